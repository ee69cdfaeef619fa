import path from 'node:path';
import fc from 'fast-check';
import { splitClearSigned } from '../../src/apt/clearsigned.ts';
import { type Compression, DecompressionError, decompress } from '../../src/apt/decompress.ts';
import { checkValidity, parseRelease } from '../../src/apt/release.ts';
import { createStanzaReader } from '../../src/apt/stanza.ts';
import { compareVersions, isValidVersion } from '../../src/apt/version.ts';
import { decodeFileName, encodeFileName } from '../../src/contract/filenames.ts';
import { inspectSignature } from '../../src/crawl/openpgp-signature.ts';
import { createSafetyList } from '../../src/safety/safety-list.ts';
import { parseQuestion } from '../../src/search/question.ts';
import { small, smallText } from '../apt/compressed.ts';
import { anyCharacter } from '../support/any-character.ts';

// What holds for any input, for the short run of the tests and the long one of `npm run fuzz`.

// By default all lists and texts are short, whatever their `maxLength`: a dozen elements.
const size = 'max';
const bytes = fc.uint8Array({ maxLength: 2000, size });
const piece = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('Package: a\n', 'Version: 1\n', '\n', ' more\n', '\t.\n', '//X: y\n', '#c\n'),
  },
  { weight: 2, arbitrary: fc.constantFrom('\r\n', '\ufeff', ':', 'SHA256:\n', ` ${'a'.repeat(64)} 1 Packages\n`, '-') },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 30, size }) },
);
const controlText = fc.oneof(
  fc.array(piece, { maxLength: 60, size }).map((pieces) => Buffer.from(pieces.join(''))),
  bytes.map((content) => Buffer.from(content)),
);

const readStanzas = (chunks: readonly Uint8Array[]): string => {
  const seen: unknown[] = [];
  const reader = createStanzaReader(
    {
      stanza: (fields) => seen.push([...fields]),
      finding: (code, detail) => seen.push([code, detail]),
    },
    { maxStanzaBytes: 300 },
  );
  for (const chunk of chunks) reader.write(chunk);
  reader.end();
  return JSON.stringify(seen);
};

const cutAt = (content: Uint8Array, cuts: readonly number[]): Uint8Array[] => {
  const places = [0, ...cuts.map((cut) => cut % (content.length + 1)).sort((a, b) => a - b), content.length];
  return places.slice(1).map((end, index) => content.subarray(places[index], end));
};

const assert = (isTrue: boolean, words: string): void => {
  if (!isTrue) throw new Error(words);
};

const stanzas = fc.property(controlText, fc.array(fc.nat(), { maxLength: 12, size }), (content, cuts) => {
  assert(readStanzas(cutAt(content, cuts)) === readStanzas([content]), 'chunk boundaries show');
});

const release = fc.property(controlText, (content) => {
  const parsed = parseRelease(content);
  checkValidity(parsed, new Date(0));
  for (const [name, { path: listed, size }] of parsed.files) {
    assert(name === listed && !name.startsWith('./') && Number.isSafeInteger(size), `bad entry ${name}`);
  }
});

const line = fc.oneof(fc.constantFrom('', '- -x', '  y ', 'Origin: z', '-'), fc.string({ maxLength: 20, size })).filter(
  // What begins with a dash must be escaped to stand in a signed text.
  (text) => !/[\n\r]/.test(text) && (!text.startsWith('-') || text.startsWith('- ') || text === '-'),
);
const composeClear = (lines: readonly string[]): string =>
  [
    '-----BEGIN PGP SIGNED MESSAGE-----',
    'Hash: SHA256',
    '',
    ...lines,
    '-----BEGIN PGP SIGNATURE-----',
    '',
    'AA==',
    '-----END PGP SIGNATURE-----',
    '',
  ].join('\n');

const clearSigned = fc.property(fc.array(line, { maxLength: 20, size }), line, controlText, (lines, stray, noise) => {
  splitClearSigned(noise);
  const split = splitClearSigned(Buffer.from(composeClear(lines)));
  assert(split.kind === 'signed', 'a signed text is refused');
  if (stray.trim() === '') return;
  for (const text of [`${stray}\n${composeClear(lines)}`, `${composeClear(lines)}${stray}\n`]) {
    assert(splitClearSigned(Buffer.from(text)).kind !== 'signed', 'a stray line is taken');
  }
});

const signature = fc.asyncProperty(controlText, bytes, fc.boolean(), async (text, content, clear) => {
  for (const noise of [
    content,
    `-----BEGIN PGP SIGNATURE-----\n\n${Buffer.from(content).toString('base64')}\n-----END PGP SIGNATURE-----\n`,
  ]) {
    const { signers } = await inspectSignature({ text, signature: noise, clear }, undefined, new Date(0));
    assert(
      signers.every((signer) => /^[0-9A-F]{16,64}$/.test(signer)),
      'a signer has no name',
    );
  }
});

const versionText = fc.oneof(
  fc
    .array(fc.constantFrom('0', '1', '10', '~', '+', '.', '-', ':', 'a', 'rc', '00'), { maxLength: 10 })
    .map((parts) => parts.join('')),
  fc.string({ unit: anyCharacter, maxLength: 12 }),
);
const versions = fc.property(versionText, versionText, versionText, (a, b, c) => {
  isValidVersion(a);
  const sign = (x: string, y: string) => Math.sign(compareVersions(x, y));
  assert(sign(a, b) === -sign(b, a) || sign(a, b) + sign(b, a) === 0, 'not antisymmetric');
  assert(sign(a, a) === 0, 'not reflexive');
  const [x, y, z] = [a, b, c].sort(compareVersions) as [string, string, string];
  assert(sign(x, y) <= 0 && sign(y, z) <= 0 && sign(x, z) <= 0, 'not transitive');
});

const name = fc.oneof(
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 120, size }),
  fc.constantFrom('..', '.', 'CON', 'a/b', '\\', 'a.', '__proto__', 'x'.repeat(255)),
);
const fileNames = fc.property(name, name, (a, b) => {
  const [first, second] = [encodeFileName(a), encodeFileName(b)];
  assert(/^[a-z0-9.+_=/-]+$/.test(first), 'not portable');
  assert(path.posix.normalize(`x/${first}.json`) === `x/${first}.json`, 'leaves its folder');
  assert(
    `${first}.json`.split('/').every((segment) => segment.length <= 255),
    'too long a segment',
  );
  if (a.isWellFormed()) assert(decodeFileName(first) === a, 'not reversible');
  if (a.isWellFormed() && b.isWellFormed()) assert((first === second) === (a === b), 'two names meet');
});

const listed = { reason: 'test', date: '2026-01-01', source: 'test' };
const safetyList = createSafetyList([
  { ...listed, host: 'bad.example' },
  { ...listed, host: 'half.example', path: '/evil' },
]);
const disguise = fc.constantFrom('%2e', '/', '\\', '\t', '@', ':', '?', '#', 'evil', '..', '%2F', 'BAD', '.', '\u3002');
const safety = fc.property(
  fc.array(fc.oneof(disguise, fc.string({ maxLength: 5 })), { maxLength: 12, size }),
  (parts) => {
    safetyList.check(parts.join(''));
    assert(!safetyList.check(`https://bad.example/${parts.join('')}`), 'a listed host is safe');
  },
);

const question = fc.property(fc.string({ unit: anyCharacter, maxLength: 300, size }), (text) => {
  for (const word of parseQuestion(text)?.words ?? []) assert(!/["*(){}:^\s]/.test(word), `${word} is syntax`);
});

const codecs = Object.entries(small) as [Exclude<Compression, 'plain'>, Buffer][];
const streams = fc.asyncProperty(
  fc.constantFrom(...codecs),
  fc.nat(),
  fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { maxLength: 3 }),
  async ([codec, whole], cut, flips) => {
    const content = Buffer.from(whole);
    for (const [at, mask] of flips) content[at % content.length] = (content[at % content.length] ?? 0) ^ mask;
    const isCut = flips.length === 0 && cut % 2 === 0;
    const source = isCut ? content.subarray(0, cut % content.length) : content;
    let text = '';
    try {
      for await (const chunk of decompress([source], codec, { maxBytes: 1e6, maxRatio: 1e6 }))
        text += Buffer.from(chunk);
    } catch (error) {
      if (error instanceof DecompressionError) return;
      throw error;
    }
    // An empty file is an empty text in no codec; without flips nothing else than the whole may come out.
    if (flips.length === 0) assert(!isCut && text === smallText, `${codec}: a part is taken for the whole`);
  },
);

/** Every property, by name. */
export const properties = {
  stanzas,
  release,
  clearSigned,
  signature,
  versions,
  fileNames,
  safety,
  question,
  streams,
} as const;
