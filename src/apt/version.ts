/**
 * Compares two package versions in dpkg's order (deb-version(7)): negative if `a` is older, positive if it is newer, 0
 * if they are equal (as `1.0` and `1.00` are). Accepts any text and never throws; invalid versions are ordered by the
 * same rules. Linear in the length of the versions.
 */
export const compareVersions = (a: string, b: string): number => {
  if (a === b) return 0;
  const [aStart, aEnd] = bounds(a);
  const [bStart, bEnd] = bounds(b);
  const aEpochEnd = epochEnd(a, aStart, aEnd);
  const bEpochEnd = epochEnd(b, bStart, bEnd);
  const epoch = compareDigits(a, aStart, Math.max(aStart, aEpochEnd), b, bStart, Math.max(bStart, bEpochEnd));
  if (epoch !== 0) return epoch;
  const aUpstream = aEpochEnd === -1 ? aStart : aEpochEnd + 1;
  const bUpstream = bEpochEnd === -1 ? bStart : bEpochEnd + 1;
  const aDash = lastDash(a, aUpstream, aEnd);
  const bDash = lastDash(b, bUpstream, bEnd);
  return (
    compareParts(a, aUpstream, aDash, b, bUpstream, bDash) ||
    compareParts(a, Math.min(aDash + 1, aEnd), aEnd, b, Math.min(bDash + 1, bEnd), bEnd)
  );
};

/** Whether dpkg accepts `text` as a version without an error or a warning (blanks around it are allowed). */
export const isValidVersion = (text: string): boolean => {
  const match = /^[ \t]*(?:(\d+):)?(\d[A-Za-z0-9.+~:-]*)[ \t]*$/.exec(text);
  if (!match) return false;
  const [, epoch, rest = ''] = match;
  if (epoch === undefined ? rest.includes(':') : Number(epoch) > maxEpoch) return false;
  const dash = rest.lastIndexOf('-');
  return dash === -1 || (dash !== rest.length - 1 && !rest.includes(':', dash));
};

// dpkg stores the epoch in a C int.
const maxEpoch = 2 ** 31 - 1;

const bounds = (text: string): [number, number] => {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return [start, end];
};

const isBlank = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d);

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** The position of the colon after the epoch; -1 if there is no numeric epoch. */
const epochEnd = (text: string, start: number, end: number): number => {
  let at = start;
  while (at < end && isDigit(text.charCodeAt(at))) at += 1;
  return at > start && at < end && text.charCodeAt(at) === 0x3a ? at : -1;
};

/** The end of the upstream version: the last dash, or the end. */
const lastDash = (text: string, start: number, end: number): number => {
  for (let at = end - 1; at >= start; at -= 1) if (text.charCodeAt(at) === 0x2d) return at;
  return end;
};

/** The order is: `~`, then the end or a digit, then letters, then all other characters. */
const order = (code: number): number => {
  if (isDigit(code)) return 0;
  if ((code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)) return code;
  if (code === 0x7e) return -1;
  return code + 0x100;
};

const compareParts = (a: string, aFrom: number, aEnd: number, b: string, bFrom: number, bEnd: number): number => {
  let i = aFrom;
  let j = bFrom;
  while (i < aEnd || j < bEnd) {
    while ((i < aEnd && !isDigit(a.charCodeAt(i))) || (j < bEnd && !isDigit(b.charCodeAt(j)))) {
      const difference = (i < aEnd ? order(a.charCodeAt(i)) : 0) - (j < bEnd ? order(b.charCodeAt(j)) : 0);
      if (difference !== 0) return difference;
      i += 1;
      j += 1;
    }
    const aDigits = i;
    const bDigits = j;
    while (i < aEnd && isDigit(a.charCodeAt(i))) i += 1;
    while (j < bEnd && isDigit(b.charCodeAt(j))) j += 1;
    const difference = compareDigits(a, aDigits, i, b, bDigits, j);
    if (difference !== 0) return difference;
  }
  return 0;
};

/** Compares two runs of digits as numbers of any size. */
const compareDigits = (a: string, aFrom: number, aEnd: number, b: string, bFrom: number, bEnd: number): number => {
  let i = aFrom;
  let j = bFrom;
  while (i < aEnd && a.charCodeAt(i) === 0x30) i += 1;
  while (j < bEnd && b.charCodeAt(j) === 0x30) j += 1;
  if (aEnd - i !== bEnd - j) return aEnd - i - (bEnd - j);
  for (; i < aEnd; i += 1, j += 1) {
    const difference = a.charCodeAt(i) - b.charCodeAt(j);
    if (difference !== 0) return difference;
  }
  return 0;
};
