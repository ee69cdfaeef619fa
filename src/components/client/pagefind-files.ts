import { addressOf } from './address.ts';

// What Pagefind reads before it can answer, one thing after the other: its script, then what the index consists of, then
// the program that searches. Each would be a way to the host and back, so those that have known names are asked for at once.

/** What Pagefind's question for its entry ends with, so that no entry of an earlier visit answers it. */
export const visit = String(Date.now());

let isAsked = false;

/** Asks for them. */
export const preloadPagefind = (): void => {
  void import(/* @vite-ignore */ addressOf('pagefind/pagefind.js')).catch(() => {});
  if (isAsked) return;
  isAsked = true;
  for (const file of [`pagefind-entry.json?ts=${visit}`, 'wasm.unknown.pagefind']) {
    const link = document.createElement('link');
    Object.assign(link, { rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href: addressOf(`pagefind/${file}`) });
    document.head.append(link);
  }
};
