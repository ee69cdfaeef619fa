// Pagefind, with which files are searched, is WebAssembly. Safari before 16 knows no word of a Content-Security-Policy that
// allows that and nothing else, and refuses it on these pages.

/** The shortest program there is: a mark, and the version. */
const nothing = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

let runs: boolean | undefined;

/** Whether the browser runs programs of WebAssembly on this page. */
export const runsWebAssembly = (): boolean => {
  if (runs === undefined) {
    try {
      // Safari refuses to make an instance, and not the module.
      runs = Boolean(new WebAssembly.Instance(new WebAssembly.Module(nothing)));
    } catch {
      runs = false;
    }
  }
  return runs;
};
