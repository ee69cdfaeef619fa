/**
 * A text of a stranger as it may stand on a page that a person reads before deciding: without control, formatting and
 * bidirectional characters, by which it could look like other text or change how its surroundings are read (Unicode
 * Technical Report 36, section 2.5; only the two joiners that scripts and emoji need are left), without line breaks, with
 * at most three marks on one letter, so that it does not grow over what stands above it. At most `maximum` characters.
 */
export const toReadable = (text: string, maximum = 256): string => {
  const clean = text
    .replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu, '')
    .replace(/[\s\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]+/gu, ' ')
    .replace(/(\p{Mark}{3})\p{Mark}+/gu, '$1')
    .replace(/[\u200c\u200d]{2,}/g, '\u200d')
    .trim();
  // Joiners alone show nothing.
  return /(?! |\u200c|\u200d)\P{Mark}/u.test(clean) ? Array.from(clean).slice(0, maximum).join('').trim() : '';
};
