// Pagefind, which searches the files, uses WebAssembly. Safari before 16 does not know the word of
// Content-Security-Policy that allows only that, and refuses it on these pages.

/** The shortest program: a magic number, and the version. */
const nothing = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

let runs: boolean | undefined;

/** Whether the browser runs WebAssembly on this page. */
export const runsWebAssembly = (): boolean => {
  if (runs === undefined) {
    try {
      // Safari refuses the instance, not the module.
      runs = Boolean(new WebAssembly.Instance(new WebAssembly.Module(nothing)));
    } catch {
      runs = false;
    }
  }
  return runs;
};
