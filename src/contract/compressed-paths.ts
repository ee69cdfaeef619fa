/** The codings in which files may be published beside themselves, best first. */
export const codings = ['br', 'gzip'] as const;

export type Coding = (typeof codings)[number];

// The names that nginx (gzip_static, brotli_static), Caddy (precompressed) and others look for.
const endings: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' };

/** The path of the compressed copy of a published file. */
export const copyPath = (file: string, coding: Coding): string => file + endings[coding];

/** The path of the file that this would be a compressed copy of; undefined where it is none by its name. */
export const fileOfCopy = (path: string): string | undefined => {
  const ending = Object.values(endings).find((one) => path.endsWith(one));
  return ending === undefined ? undefined : path.slice(0, -ending.length);
};
