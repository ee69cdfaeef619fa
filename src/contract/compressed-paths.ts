/** The codings in which files may be published beside the originals, the best first. */
export const codings = ['br', 'gzip'] as const;

export type Coding = (typeof codings)[number];

// The endings that nginx (gzip_static, brotli_static), Caddy (precompressed) and others look for.
const endings: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' };

/** The path of the compressed copy of a published file. */
export const copyPath = (file: string, coding: Coding): string => file + endings[coding];

/** The path of the file of which this would be the compressed copy; undefined if its name is not that of a copy. */
export const fileOfCopy = (path: string): string | undefined => {
  const ending = Object.values(endings).find((one) => path.endsWith(one));
  return ending === undefined ? undefined : path.slice(0, -ending.length);
};
