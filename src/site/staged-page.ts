const index = '/index.html';

/**
 * Where a page is in the folder in which pages are built, given its published path. A page is published as the
 * `index.html` of a folder, but making a folder for each of 63,000 took a tenth of rendering them, and of checking them
 * if nothing had changed. So each is a single file here, beside the other content of the parent folder. No published
 * path contains "~".
 */
export const stagedPage = (file: string): string => (file.endsWith(index) ? `${file.slice(0, -index.length)}~` : file);
