const buckets = 2 ** 16;

/** The bucket, of 65,536, into which a text falls, and others with it: FNV-1a, folded. */
export const bucketOf = (text: string): number => {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return ((value >>> 16) ^ value) & (buckets - 1);
};
