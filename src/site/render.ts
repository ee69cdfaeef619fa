import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { PathWithRoute as Page } from 'astro';
import { basePathOf } from '../contract/paths.ts';
import type { Addressing } from '../contract/public-addresses.ts';
import type { Bundle, Pages } from './bundle.ts';
import type { SiteService } from './context.ts';
import { describeKept, isAsWritten, writeKept } from './kept-file.ts';
import { rememberLast } from './page-keys.ts';
import { type RenderedFile, type RenderedPage, type SharedWork, shareWork, takeFiles } from './page-work.ts';
import { stagedPage } from './staged-page.ts';

/** The record of the last run: what it rendered with, and what is known of each file with a cache key. */
interface Rendered {
  /** How the publication is addressed, who runs it, and the key of the bundle. */
  readonly bundle: string;
  readonly pages: Readonly<Record<string, RenderedPage>>;
}

/** Where the record of the pages in a folder is. */
export const keptRecord = (folder: string): string => `${folder}.json`;

/** The file of a page below the output folder. */
const fileOf = ({ pathname, route }: Page): string => {
  const name = pathname.replace(/^\/|\/$/g, '');
  if (route.type === 'endpoint') return name;
  if (name === '404') return '404.html';
  return path.posix.join(name, 'index.html');
};

const readRendered = (file: string, bundle: string): Rendered['pages'] => {
  if (!existsSync(file)) return {};
  try {
    const rendered = JSON.parse(readFileSync(file, 'utf8')) as Rendered;
    return rendered.bundle === bundle ? (rendered.pages ?? {}) : {};
  } catch {
    // It was cut off while it was written, so nothing is known of the pages.
    return {};
  }
};

/** After how many folders or pages other work gets its turn. */
const lookedAtOnce = 100;

/** Removes a folder and the folders around it, up to a root, as long as they are empty. */
const removeEmpty = (root: string, folder: string): void => {
  try {
    for (let empty = folder; empty !== '.'; empty = path.posix.dirname(empty)) rmdirSync(path.join(root, empty));
  } catch (error) {
    // Checking first would mean reading the whole folder.
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
};

/** The files in a folder and its subfolders. Removes empty subfolders. */
const listFiles = async (root: string): Promise<Set<string>> => {
  mkdirSync(root, { recursive: true });
  const files = new Set<string>();
  const folders = [''];
  let looked = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (++looked % lookedAtOnce === 0) await setImmediate();
    const entries = readdirSync(path.join(root, folder), { withFileTypes: true });
    if (entries.length === 0 && folder !== '') removeEmpty(root, folder);
    for (const entry of entries) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile()) files.add(name);
      else if (entry.isDirectory()) folders.push(name);
    }
  }
  return files;
};

// Addresses of this host in tags: to follow, to load, to send to, or to refresh to (`content="0; url=…"`). All
// quotation marks of strangers are escaped, so text outside of tags cannot look like this.
const ownAddress = /( (?:href|src|action|data-fallback)="| content="0; url=)\/(?!\/)/g;

/**
 * Pages are written as if they were at the root of a host, including the names of their scripts and styles, which the
 * bundler chooses once for all public addresses. This moves them below the path of the public address.
 */
const placeBelow = (html: string, prefix: string): string =>
  html.replaceAll(ownAddress, (_, before: string) => `${before}${prefix}/`);

const renderByAstro = async (pages: Pages, base: string, { pathname, route }: Page): Promise<Response> => {
  const ending = route.type === 'page' && !pathname.endsWith('/') ? '/' : '';
  const request = new Request(new URL(encodeURI(pathname) + ending, new URL(base).origin));
  const response = await pages.app.render(request, { routeData: route });
  const expected = pathname.startsWith('/404') ? 404 : 200;
  if (response.status !== expected) throw new Error(`The page ${pathname} cannot be rendered; the reason is above.`);
  return response;
};

// Every page of a build has the same one.
const pathOf = rememberLast(basePathOf);

const renderPage = async (pages: Pages, base: string, page: Page): Promise<Buffer> => {
  const byAstro = () => renderByAstro(pages, base, page);
  if (page.route.type !== 'page') {
    const text = pages.answerAlike(page.pathname);
    // Other files may contain bytes that are no text.
    return text === undefined ? Buffer.from(await (await byAstro()).arrayBuffer()) : Buffer.from(text);
  }
  const textOf = async () => (await byAstro()).text();
  const html = await (pages.renderAlike(page.pathname, textOf) ?? textOf());
  const prefix = pathOf(base);
  return Buffer.from(prefix === '' ? html : placeBelow(html, prefix));
};

const keyOf = ({ readKey }: Pages, { cacheKey }: Page): string | undefined =>
  cacheKey === undefined ? undefined : readKey(cacheKey);

/** What all pages depend on, in addition to their content. */
interface Rendering extends Addressing {
  readonly service?: SiteService | undefined;
  /**
   * How many lists there are of what packages state about iOS devices (statedLists); 0 if no package is for such
   * devices.
   */
  readonly statedLists?: number;
}

/**
 * The pages of a bundle by their files, ordered by those. So the page and the feed of a package follow each other, which
 * read the same records.
 */
export const pagesByFile = async (pages: Pages): Promise<ReadonlyMap<string, Page>> => {
  const listed = (await pages.listPages()).map((page) => [fileOf(page), page] as const);
  return new Map(listed.sort(([a], [b]) => (a < b ? -1 : 1)));
};

/**
 * Renders pages that nobody else has taken, until all are taken. Several threads may share the same pages.
 *
 * @param listed the pages of the bundle by their files
 * @param onRendered called with the files of each batch
 * @throws Error if a page cannot be rendered
 */
export const renderTaken = async (
  { pages, listed, folder, base }: { pages: Pages; listed: ReadonlyMap<string, Page>; folder: string; base: string },
  work: SharedWork,
  onRendered: (files: readonly RenderedFile[]) => void,
): Promise<void> => {
  const made = new Set<string>();
  for (let files = takeFiles(work); files.length > 0; files = takeFiles(work)) {
    const rendered: RenderedFile[] = [];
    for (const file of files) {
      const page = listed.get(file);
      if (page === undefined) throw new Error(`The catalog changed while its pages were rendered: ${file} is gone`);
      const key = keyOf(pages, page);
      const body = await renderPage(pages, base, page);
      const target = path.join(folder, stagedPage(file));
      const parent = path.dirname(target);
      if (!made.has(parent)) mkdirSync(parent, { recursive: true });
      made.add(parent);
      // In place rather than by rename, unlike below the output folder: nobody reads it before this ends, and nothing
      // that a kill leaves is recorded. A third less work than with promises.
      writeKept(target, body);
      const note = key === undefined ? undefined : { key, ...describeKept(body) };
      rendered.push({ file, note });
    }
    onRendered(rendered);
    // Other work in this thread gets its turn.
    await setImmediate();
  }
};

/** How to render pages, apart from their content. */
interface RenderOptions {
  /** Whether to read everything that is kept, and to make again what is not as it was written. */
  readonly verify?: boolean;
  /** Called with the files that are to be rendered. */
  readonly onListed?: (files: readonly string[]) => void;
  /** Renders a share of the work elsewhere, and reports its files. Rejects as `renderTaken` does. */
  readonly help?: (work: SharedWork, onRendered: (files: readonly RenderedFile[]) => void) => Promise<void>;
}

/** The files in the folder of the pages, and how many of them were rendered now. */
interface RenderedPages {
  readonly files: readonly string[];
  readonly rendered: number;
}

/**
 * Renders into a folder the pages whose cache key has changed, and those without one. Removes files that are no pages
 * any more.
 *
 * @throws Error if a page cannot be rendered
 */
export const renderPages = async (
  { key, pages }: Bundle,
  folder: string,
  { base, staticRefs = false, service, statedLists = 0 }: Rendering,
  onPage: (done: number, total: number) => void,
  { verify = false, onListed = () => {}, help = async () => {} }: RenderOptions = {},
): Promise<RenderedPages> => {
  const mark = keptRecord(folder);
  const bundle = [
    base,
    ...(staticRefs ? ['static'] : []),
    ...(statedLists > 0 ? [`devices ${statedLists}`] : []),
    JSON.stringify(service ?? null),
    key,
  ].join(' ');
  const known = readRendered(mark, bundle);
  const present = await listFiles(folder);
  const kept: Record<string, RenderedPage> = Object.create(null);
  const stale: string[] = [];
  const listed = await pagesByFile(pages);
  let looked = 0;
  for (const [file, page] of listed) {
    // Without a second thread, the search index is made in this one at the same time.
    if (++looked % lookedAtOnce === 0) await setImmediate();
    const before = Object.hasOwn(known, file) ? known[file] : undefined;
    const standing = stagedPage(file);
    const isSame = before !== undefined && present.has(standing) && keyOf(pages, page) === before.key;
    if (isSame && isAsWritten(path.join(folder, standing), before, verify)) kept[file] = before;
    else stale.push(file);
    present.delete(standing);
  }
  // What is about to change is not recorded until it is complete.
  writeFileSync(mark, JSON.stringify({ bundle, pages: kept } satisfies Rendered));
  // In batches as well: an earlier version had a folder for each page, and removing all of them takes seconds.
  for (const file of present) {
    if (++looked % lookedAtOnce === 0) await setImmediate();
    rmSync(path.join(folder, file), { force: true });
    removeEmpty(folder, path.posix.dirname(file));
  }
  onListed(stale);
  let done = 0;
  const onRendered = (files: readonly RenderedFile[]): void => {
    for (const { file, note } of files) if (note !== undefined) kept[file] = note;
    const before = done;
    done += files.length;
    if (Math.floor(done / 100) > Math.floor(before / 100) || done === stale.length) onPage(done, stale.length);
  };
  const work = shareWork(stale);
  await Promise.all([renderTaken({ pages, listed, folder, base }, work, onRendered), help(work, onRendered)]);
  writeFileSync(mark, JSON.stringify({ bundle, pages: kept } satisfies Rendered));
  return { files: [...listed.keys()], rendered: stale.length };
};
