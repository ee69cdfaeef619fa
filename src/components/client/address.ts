// The root of the site: scripts are in its folder `assets`, directly below the root. Not with `new URL('../', …)`,
// which the bundler would take for the name of a file.
const root = new URL(import.meta.url).pathname.replace(/assets\/[^/]*$/, '');

/** The address on this host of a path below the site's root. */
export const addressOf = (path: string): string => root + path;
