import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { basePathOf } from '../contract/paths.ts';
import type { Addressing } from '../contract/public-addresses.ts';
import type { Bundle, Pages } from './bundle.ts';
import type { SiteService } from './context.ts';
import { describeKept, isAsWritten, writeKept } from './kept-file.ts';
import { type RenderedFile, type RenderedPage, type SharedWork, shareWork, takeFiles } from './page-work.ts';
import { stagedPage } from './staged-page.ts';

type Page = Awaited<ReturnType<Pages['listPages']>>[number];

/** What the last run left: what it rendered with, and what it knows of each file that has a cache key. */
interface Rendered {
  /** How the publication is addressed, who runs it, and the key of the bundle. */
  readonly bundle: string;
  readonly pages: Readonly<Record<string, RenderedPage>>;
}

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
    // Cut off while it was written: nothing is known of the pages.
    return {};
  }
};

/** So many folders or pages are looked at before other work gets its turn. */
const lookedAtOnce = 100;

/** Removes a folder and those around it, up to a root, as far as nothing is in them. */
const removeEmpty = (root: string, folder: string): void => {
  try {
    for (let empty = folder; empty !== '.'; empty = path.posix.dirname(empty)) rmdirSync(path.join(root, empty));
  } catch (error) {
    // To look first would be to read all that is in it.
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
};

/** The files in a folder and in those in it; of folders, those in which nothing is go. */
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

// Addresses of this host that a tag names: to follow, to load, to send to, or to go on to (`content="0; url=…"`). All
// that a stranger wrote has its quotation marks escaped, so outside tags no text looks like this.
const ownAddress = /( (?:href|src|action|data-fallback)="| content="0; url=)\/(?!\/)/g;

/**
 * The pages are written as if they stood at the root of a host, the names of their scripts and styles among them, which
 * the bundler gives out for every public address alike. Here they come to stand below its path.
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

const renderPage = async (pages: Pages, base: string, page: Page): Promise<Buffer> => {
  const byAstro = () => renderByAstro(pages, base, page);
  if (page.route.type !== 'page') {
    const text = await pages.answerAlike(page.pathname);
    // What is no page may be of bytes that are no text.
    return text === undefined ? Buffer.from(await (await byAstro()).arrayBuffer()) : Buffer.from(text);
  }
  const textOf = async () => (await byAstro()).text();
  const html = await (pages.renderAlike(page.pathname, textOf) ?? textOf());
  const prefix = basePathOf(base);
  return Buffer.from(prefix === '' ? html : placeBelow(html, prefix));
};

const keyOf = ({ readKey }: Pages, { cacheKey }: Page): string | undefined =>
  cacheKey === undefined ? undefined : readKey(cacheKey);

const inputsOf = ({ readInputs }: Pages, { cacheKey }: Page): string | undefined =>
  cacheKey === undefined ? undefined : readInputs(cacheKey);

/** What is to be noted of a page that shows what it showed when this was noted; undefined where it shows something else. */
const confirm = (pages: Pages, page: Page, before: RenderedPage): RenderedPage | undefined => {
  const inputs = inputsOf(pages, page);
  if (inputs !== undefined && inputs === before.inputs) return before;
  return keyOf(pages, page) === before.key ? { ...before, inputs } : undefined;
};

/** What all pages are rendered with, besides what each shows. */
interface Rendering extends Addressing {
  readonly service?: SiteService | undefined;
  /** How many lists there are of what packages state of devices with iOS (statedLists); 0 where none is for such. */
  readonly statedLists?: number;
}

/** The pages of a bundle by their files. */
export const pagesByFile = async (pages: Pages): Promise<ReadonlyMap<string, Page>> =>
  new Map((await pages.listPages()).map((page) => [fileOf(page), page]));

/**
 * Renders the pages that nobody else takes, until all are taken. Several may work at once on the same pages.
 *
 * @param listed the pages of the bundle by their files
 * @param onRendered told of the files of each few
 * @throws Error where a page cannot be rendered
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
      // In its place and not by rename, as below the output folder: nobody reads it before this ends, and of what a kill
      // leaves nothing is noted. A third less work than through promises.
      writeKept(target, body);
      const note = key === undefined ? undefined : { key, inputs: inputsOf(pages, page), ...describeKept(body) };
      rendered.push({ file, note });
    }
    onRendered(rendered);
    // What else this thread does gets its turn.
    await setImmediate();
  }
};

/** How pages are rendered, besides what shows on them. */
interface RenderOptions {
  /** Whether to read all that is kept, and make again what is not as it was written. */
  readonly verify?: boolean;
  /** Somebody else who takes of the work; told are the files rendered there. Rejects as `renderTaken` does. */
  readonly help?: (work: SharedWork, onRendered: (files: readonly RenderedFile[]) => void) => Promise<void>;
}

/** What stands in the folder of the pages: its files, and how many of them were rendered now. */
interface RenderedPages {
  readonly files: readonly string[];
  readonly rendered: number;
}

/**
 * Renders into a folder the pages whose cache key is not that of the last run, and those that have none; removes files
 * that are no page any more.
 *
 * @throws Error where a page cannot be rendered
 */
export const renderPages = async (
  { key, pages }: Bundle,
  folder: string,
  { base, staticRefs = false, service, statedLists = 0 }: Rendering,
  onPage: (done: number, total: number) => void,
  { verify = false, help = async () => {} }: RenderOptions = {},
): Promise<RenderedPages> => {
  const mark = `${folder}.json`;
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
    // The search index is made meanwhile, which asks little of this thread, but asks it often.
    if (++looked % lookedAtOnce === 0) await setImmediate();
    const before = Object.hasOwn(known, file) ? known[file] : undefined;
    const standing = stagedPage(file);
    const same = before !== undefined && present.has(standing) ? confirm(pages, page, before) : undefined;
    if (same !== undefined && isAsWritten(path.join(folder, standing), same, verify)) kept[file] = same;
    else stale.push(file);
    present.delete(standing);
  }
  // What is about to change is not known until it is whole.
  writeFileSync(mark, JSON.stringify({ bundle, pages: kept } satisfies Rendered));
  // Few by few as well: an earlier version had each page in a folder of its own, and all of these take seconds.
  for (const file of present) {
    if (++looked % lookedAtOnce === 0) await setImmediate();
    rmSync(path.join(folder, file), { force: true });
    removeEmpty(folder, path.posix.dirname(file));
  }
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
