/** How many hues there are for the tiles of packages and the cards of repositories. */
const hueCount = 7;

/** The red one, for a warning, which the hue of a slug, green perhaps, would belie. */
export const warningHue = 5;

/** The hue of a slug or an identifier, from 0 to 6 or to `count` - 1. It is the same wherever it is shown. */
export const hueOf = (text: string, count = hueCount): number => {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 0xffff;
  return sum % count;
};
