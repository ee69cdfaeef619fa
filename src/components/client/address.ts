// Where the site lies: scripts stand in its folder `assets`, right below its root. Not as `new URL('../', …)`, which the
// bundler would take for the name of a file.
const root = new URL(import.meta.url).pathname.replace(/assets\/[^/]*$/, '');

/** An address of this site, from its path below the site's root, which lies anywhere on its host. */
export const addressOf = (path: string): string => root + path;
