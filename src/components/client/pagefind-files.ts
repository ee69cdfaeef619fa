import { addressOf } from './address.ts';

// Pagefind reads several files one after another before it can answer: its script, the parts list of its index, the
// search program. Each would take a round trip, so those with known names are requested at once.

/** The query string of Pagefind's request for its entry, so that no entry of an earlier visit is reused. */
export const visit = String(Date.now());

/** The file that names all others of the index. Those are named after their content. */
export const entryFile = (tag: string): string => `pagefind/pagefind-entry.json?ts=${tag}`;

let isAsked = false;

/** Requests these files. */
export const preloadPagefind = (): void => {
  void import(/* @vite-ignore */ addressOf('pagefind/pagefind.js')).catch(() => {});
  if (isAsked) return;
  isAsked = true;
  for (const file of [entryFile(visit), 'pagefind/wasm.unknown.pagefind']) {
    const link = document.createElement('link');
    Object.assign(link, { rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href: addressOf(file) });
    document.head.append(link);
  }
};
