const index = '/index.html';

/**
 * Where a page stands in the folder in which pages are built, by the path at which it is published. A page is a folder's
 * `index.html`, and a folder of its own for each of 63,000 took a tenth of rendering them, and of looking at them where
 * nothing changed: here each is one file, beside what else is in the folder above. No path that is published has a "~".
 */
export const stagedPage = (file: string): string => (file.endsWith(index) ? `${file.slice(0, -index.length)}~` : file);
