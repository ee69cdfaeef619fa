/**
 * Makes a stranger's text safe for a page that somebody reads before deciding. Removes control, formatting and
 * bidirectional characters, with which it could imitate other text or change how its surroundings read (Unicode
 * Technical Report 36, section 2.5), except the two joiners that scripts and emoji need; removes line breaks; and keeps
 * at most three marks on a letter, so that it does not overlap the text above. At most `maximum` characters.
 */
export const toReadable = (text: string, maximum = 256): string => {
  const clean = text
    .replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu, '')
    .replace(/[\s\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]+/gu, ' ')
    .replace(/(\p{Mark}{3})\p{Mark}+/gu, '$1')
    .replace(/[\u200c\u200d]{2,}/g, '\u200d')
    .trim();
  // Nothing is left if only joiners are.
  return /(?! |\u200c|\u200d)\P{Mark}/u.test(clean) ? Array.from(clean).slice(0, maximum).join('').trim() : '';
};
