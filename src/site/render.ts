import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Bundle, Pages } from './bundle.ts';

type Page = Awaited<ReturnType<Pages['listPages']>>[number];

/** What the last run left: what it rendered with, and the cache key of each file that has one. */
interface Rendered {
  /** The public address and the key of the bundle. */
  readonly bundle: string;
  readonly keys: Readonly<Record<string, string>>;
}

/** The file of a page below the output folder. */
const fileOf = ({ pathname, route }: Page): string => {
  const name = pathname.replace(/^\/|\/$/g, '');
  if (route.type === 'endpoint') return name;
  if (name === '404') return '404.html';
  return path.posix.join(name, 'index.html');
};

const readRendered = (file: string, bundle: string): Rendered['keys'] => {
  if (!existsSync(file)) return {};
  try {
    const rendered = JSON.parse(readFileSync(file, 'utf8')) as Rendered;
    return rendered.bundle === bundle ? rendered.keys : {};
  } catch {
    // Cut off while it was written: nothing is known of the pages.
    return {};
  }
};

const listFiles = (folder: string): Set<string> => {
  mkdirSync(folder, { recursive: true });
  return new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))),
  );
};

const renderPage = async (pages: Pages, base: string, { pathname, route }: Page): Promise<Buffer> => {
  const ending = route.type === 'page' && !pathname.endsWith('/') ? '/' : '';
  const request = new Request(new URL(encodeURI(pathname) + ending, base));
  const response = await pages.app.render(request, { routeData: route });
  const expected = pathname.startsWith('/404') ? 404 : 200;
  if (response.status !== expected) throw new Error(`The page ${pathname} cannot be rendered; the reason is above.`);
  return Buffer.from(await response.arrayBuffer());
};

/**
 * Renders into a folder the pages whose cache key is not that of the last run, and those that have none; removes files
 * that are no page any more. Returns how many were rendered.
 *
 * @param base public address without trailing slash
 * @throws Error where a page cannot be rendered
 */
export const renderPages = async (
  { key, pages }: Bundle,
  folder: string,
  base: string,
  onPage: (done: number, total: number) => void,
): Promise<number> => {
  const mark = `${folder}.json`;
  const bundle = `${base} ${key}`;
  const known = readRendered(mark, bundle);
  const present = listFiles(folder);
  const wanted: Record<string, string> = Object.create(null);
  const keys: Record<string, string> = Object.create(null);
  const stale: { readonly page: Page; readonly file: string }[] = [];
  for (const page of await pages.listPages()) {
    const file = fileOf(page);
    if (page.cacheKey !== undefined) wanted[file] = page.cacheKey;
    const current = page.cacheKey !== undefined && known[file] === page.cacheKey && present.has(file);
    if (current) keys[file] = page.cacheKey ?? '';
    else stale.push({ page, file });
    present.delete(file);
  }
  // What is about to change is not known until it is whole.
  writeFileSync(mark, JSON.stringify({ bundle, keys } satisfies Rendered));
  for (const file of present) rmSync(path.join(folder, file), { force: true });
  for (const [index, { page, file }] of stale.entries()) {
    const body = await renderPage(pages, base, page);
    const target = path.join(folder, file);
    mkdirSync(path.dirname(target), { recursive: true });
    // A third less work than through promises. Between some of them, what else this process does gets its turn.
    writeFileSync(target, body);
    const done = index + 1;
    if (done % 16 === 0) await setImmediate();
    if (done % 100 === 0 || done === stale.length) onPage(done, stale.length);
  }
  writeFileSync(mark, JSON.stringify({ bundle, keys: wanted } satisfies Rendered));
  return stale.length;
};
