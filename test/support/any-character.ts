import fc from 'fast-check';

// The code points between them are surrogates, halves of other characters.
const [firstHalf, halves, last] = [0xd800, 0x800, 0x10ffff];

const indexOf = (text: unknown): number => {
  const code = typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1;
  if (code === -1 || String.fromCodePoint(code) !== text || (code >= firstHalf && code < firstHalf + halves)) {
    throw new Error('is not one character');
  }
  return code < firstHalf ? code : code - halves;
};

/**
 * Any character, as the unit of a string: draws what `unit: 'binary'` draws from the same seed. That unit builds a map
 * of all million characters, which takes half a second in each process and slows every garbage collection.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: last - halves })
  .map((index) => String.fromCodePoint(index < firstHalf ? index : index + halves), indexOf);
