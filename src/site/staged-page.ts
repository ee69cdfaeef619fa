// What replaces the last part of a path: short, because the name before it may be nearly as long as a name may be.
const places = { '/index.html': '~', '/feed.atom': '~~' };

/**
 * Where a page or feed is in the folder in which pages are built, given its published path. Those of a package are
 * published in a folder of their own, but making a folder for each of 63,000 took a tenth of rendering them, and of
 * checking them if nothing had changed. So each is a file beside the other content of the parent folder here. No
 * published path contains "~".
 */
export const stagedPage = (file: string): string => {
  for (const [ending, place] of Object.entries(places)) {
    if (file.endsWith(ending)) return file.slice(0, -ending.length) + place;
  }
  return file;
};
