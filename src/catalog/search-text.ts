// How text becomes search terms, both for indexing and for queries: without regard to case, diacritics and width. Names
// match whether they are written as one word or several, because both forms are terms.

// Letters that Unicode does not decompose, but that people type without their stroke or ligature.
const folded: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ASCII
const ascii = /^[\x00-\x7f]*$/;

/**
 * Without the signs of trade marks, whose compatibility forms are letters ("YouTubeTM"): who leaves them out means the
 * same name. They end a word.
 */
const withoutMarks = (text: string): string =>
  // One by one: a run of them that a blank has to follow would be read again from each of its signs.
  text.replace(/[™℠](?=[™℠\s]|$)/g, '').replace(/[™℠]/g, ' ');

/** Lower case without diacritics, in compatibility form (full-width letters become ordinary ones). */
export const foldText = (text: string): string => {
  if (ascii.test(text)) return text.toLowerCase();
  return withoutMarks(text)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþħı]/g, (letter) => folded[letter] ?? letter)
    .normalize('NFC');
};

// Scripts that put no blanks between words. Each character counts as a word, and ends a word of another script: names
// in them contain Latin ones without a blank ("微信WeChat助手"). With characters that several scripts share ("ー").
const unspaced = /([\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}])/u;
const words = /[\p{L}\p{N}]+/gu;
const asciiWords = /[a-z0-9]+/g;

/** The words of a text, folded. */
export const splitWords = (text: string): string[] => {
  const plain = foldText(text);
  if (ascii.test(plain)) return plain.match(asciiWords) ?? [];
  return (plain.match(words) ?? []).flatMap((word) =>
    unspaced.test(word) ? word.split(unspaced).filter((part) => part !== '') : [word],
  );
};

/** Whether nothing in a text separates its words: they are one, or the characters of a script without blanks. */
export const isUnbroken = (text: string): boolean =>
  /^[^\p{L}\p{N}]*[\p{L}\p{N}]+[^\p{L}\p{N}]*$/u.test(foldText(text));

/** Nobody types more parts. */
const mostParts = 8;

/**
 * The parts of a query that are separated by blanks, each as a list of words. A version has several words. Parts that
 * belong together are one part: "iOS 14" is one thing, so is "for iOS 14", and "tweak for" says what kind of thing the
 * name is. Empty if there are more parts than anybody types.
 */
export const splitParts = (text: string): string[][] => {
  const parts = text
    .replace(/\b(for|on)\s+(?=ios\b)/gi, '$1-')
    .replace(/\bios\s+(?=\d)/gi, 'ios-')
    .replace(/\s+(?=for\s(?!\s*ios\b))/gi, '-')
    .split(/\s+/)
    .map(splitWords)
    .filter(({ length }) => length > 0);
  return parts.length > mostParts ? [] : parts;
};

// Addresses of the pages of packages, here and elsewhere, and of those that package managers open.
const packageAddress = /^[a-z][a-z\d+.-]*:\/.*?(?:\/packages?\/|[?&](?:p|package|packageid)=)([^/?&#]+)/i;
const packageFile = /^(?:.*\/)?([^/_]+)_[^/]*\.deb$/i;

/**
 * What stands for the identifier in a text that is nothing but the address of a package's page ("sileo://package/…") or
 * the name of its file: who looks for a package pastes what they have. Undefined for any other text.
 */
export const pastedPackage = (text: string): string | undefined => {
  const trimmed = text.trim();
  if (/\s/.test(trimmed)) return undefined;
  const [, name] = packageFile.exec(trimmed) ?? packageAddress.exec(trimmed) ?? [];
  // What is escaped is no letter, and words end at it.
  return name?.replaceAll(/%[\da-f]{2}/gi, '-');
};

/** All words joined together. The result does not depend on spacing and punctuation. */
export const joinWords = (text: string): string => splitWords(text).join('');

// The end of a part of a word: a lower-case letter before a capital, a capital before the last capital of a run that a
// lower-case letter follows, and the edges of a number. Browsers run this, too, and those of many jailbroken devices
// support lookahead but no lookbehind.
const beforeHump = /\p{Ll}(?=\p{Lu})|\p{Lu}(?=\p{Lu}\p{Ll})|\p{L}(?=\p{N})|\p{N}(?=\p{L})/gu;
const splitHumps = (raw: string): string[] => raw.replace(beforeHump, '$& ').split(' ');
const rawWords = /[\p{L}\p{N}\p{M}]+/gu;
// Most words of names. They are terms as they are, and looking for their parts would take most of the time.
const plainWord = /^[a-z]+$/;

export interface NameTerms {
  /** Its words, and the parts of words that contain capitals or digits. */
  readonly words: ReadonlySet<string>;
  /** Every two neighbouring words joined together. */
  readonly pairs: readonly string[];
}

/** The terms under which a name is found. */
export const nameTerms = (name: string): NameTerms => {
  const terms = new Set<string>();
  const pairs: string[] = [];
  // A sign may stand for letters ("№", "™"). Queries are written with it, without it, and with the letters.
  for (const written of ascii.test(name) ? [name] : new Set([name, name.normalize('NFKC')])) {
    let previous: string | undefined;
    for (const raw of written.match(rawWords) ?? []) {
      const isPlain = plainWord.test(raw);
      const parts = isPlain ? [] : splitHumps(raw);
      if (parts.length > 1) for (const part of parts) for (const word of splitWords(part)) terms.add(word);
      for (const word of isPlain ? [raw] : splitWords(raw)) {
        terms.add(word);
        if (previous !== undefined) pairs.push(previous + word);
        previous = word;
      }
    }
  }
  return { words: terms, pairs };
};

/** The words of a description: folded text for a tokenizer that splits at everything else. */
export const descriptionText = (text: string): string => {
  const plain = foldText(text);
  return ascii.test(plain) ? plain : splitWords(text).join(' ');
};
