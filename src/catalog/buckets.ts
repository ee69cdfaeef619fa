const buckets = 2 ** 16;

/** FNV-1a as an unsigned number. */
export const hashOf = (text: string): number => {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
};

/** The bucket (of 65,536) of a hash: both halves combined. */
export const foldHash = (hash: number): number => ((hash >>> 16) ^ hash) & (buckets - 1);

/** The bucket of a text. Other texts share it. */
export const bucketOf = (text: string): number => foldHash(hashOf(text));
