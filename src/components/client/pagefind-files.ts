import { addressOf } from './address.ts';

// What Pagefind reads before it can answer, one thing after the other: its script, then what the index consists of, then
// the program that searches. Each would be a way to the host and back, so those that have known names are asked for at once.

/** What Pagefind's question for its entry ends with, so that no entry of an earlier visit answers it. */
export const visit = String(Date.now());

/** The file that names all others of the index; each of those is named after what is in it. */
export const entryFile = (tag: string): string => `pagefind/pagefind-entry.json?ts=${tag}`;

let isAsked = false;

/** Asks for them. */
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
