import fc from 'fast-check';
import { type QueryName, writtenName } from '../../src/contract/parameters.ts';
import { operations } from '../../src/contract/paths.ts';
import { anyCharacter } from './any-character.ts';
import type { Sent } from './wire.ts';

// Requests to every operation: valid ones, ones at a limit, and broken ones.

const one = fc.constantFrom;

/** Encodes text for a target: characters that HTTP can carry stay, others are percent-encoded. */
const inTarget = (text: string): string =>
  [...(/[^\0-\xff]/.test(text) ? Buffer.from(text).toString('latin1') : text)]
    .map((character) => (character <= ' ' || character === '\x7f' ? encodeURIComponent(character) : character))
    .join('');

const odd = one(
  '%',
  '%zz',
  '%ff',
  '%00',
  '%0d%0a',
  '%C3%A9',
  '%25',
  '%2e%2e',
  '..',
  '.',
  '%5C',
  '\\',
  '//',
  ';a=b',
  '#',
  '{',
  '"',
  "'",
  '*',
  '`',
  '<x>',
  '|',
  '^',
  '~',
  '+',
  ',',
  '&',
  '=',
  '?',
  ':',
  '@',
  '__proto__',
  'constructor',
  'é'.repeat(200),
  'a'.repeat(300),
);
const anyText = fc
  .oneof(
    fc.string({ unit: anyCharacter, maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed())),
    fc.string({ unit: 'grapheme', maxLength: 12 }).map(inTarget),
    fc.string({ maxLength: 20 }).map(inTarget),
    fc.array(odd, { maxLength: 4 }).map((pieces) => pieces.join('')),
  )
  .map(inTarget);

/** Three times out of four a usual value. */
const mostly = (usual: fc.Arbitrary<string>, other: fc.Arbitrary<string> = anyText): fc.Arbitrary<string> =>
  fc.oneof({ arbitrary: usual, weight: 3 }, { arbitrary: other, weight: 1 });

const number = (most: number) =>
  mostly(
    fc.integer({ min: 1, max: Math.min(most, 20) }).map(String),
    fc.oneof(
      one(
        '0',
        '-1',
        '',
        '1.5',
        '1e2',
        '0x10',
        '%20',
        '+1',
        '٣',
        '9'.repeat(30),
        String(most),
        String(most + 1),
        'null',
        '1,2',
      ),
      anyText,
    ),
  );

const words = one(
  'snow',
  'sn',
  'time',
  'better dock',
  'com.',
  'ÉCLAIR',
  '汉化',
  '🎉',
  'azrue',
  'AND',
  'NEAR(',
  'a',
  '',
  ' ',
  'x'.repeat(256),
  'x'.repeat(257),
);

const parameters = (ids: readonly string[]): Readonly<Record<QueryName, fc.Arbitrary<string>>> => ({
  q: mostly(words.map(encodeURIComponent)),
  limit: number(250),
  listLimit: number(1000),
  page: number(100),
  architecture: mostly(one('iphoneos-arm64', 'all', 'amd64', '', 'Arm', '-')),
  firmware: mostly(
    one('16', '16.7', '15.8.3', '99.63.63', '99.99', '', '16.', 'iOS16', '\u0661\u0666').map(encodeURIComponent),
  ),
  section: mostly(one('Tweaks', 'tweaks', 'Widgets+%26+More', '', '%20', 'x'.repeat(256), 'x'.repeat(257))),
  repository: mostly(one('odd', 'gone', '', '.', 'x'.repeat(65))),
  price: mostly(one('Free', 'paid', '', 'cheap')),
  kind: mostly(one('tweaks', 'Themes', '', 'none')),
  state: mostly(one('current', 'stale', 'pre-release', '', 'gone')),
  sort: mostly(one('newest', 'downloads', 'name', '', 'oldest')),
  rank: mostly(one('1', '2', '3', '4', '5', '*', '%2A'), fc.oneof(one('0', '6', '', '**', '１'), anyText)),
  ids: mostly(
    fc.array(one(...ids), { minLength: 1, maxLength: 8 }).map((list) => list.map(encodeURIComponent).join(',')),
  ),
  deviceArchitecture: mostly(one('iphoneos-arm', 'iphoneos-arm64', 'all'), one('', 'a%20b', 'x'.repeat(65))),
  repositories: mostly(
    one('', 'odd', 'odd,nowhere', ',,'),
    fc.constant(Array.from({ length: 1001 }, (_, number) => `x${number}`).join(',')),
  ),
  deviceFirmware: mostly(one('16.5', '0', ''), one('a%20b', '1'.repeat(65))),
  priority: mostly(one('default', 'bootstrap')),
  uris: fc
    .array(
      fc.oneof(
        one(
          'https://a.example/',
          'unsafe.test',
          'http://x.unsafe.test:1/',
          'https://B.example/Path%20',
          '',
          'https://[::1',
        ),
        anyText,
      ),
      { maxLength: 5 },
    )
    .map((list) => list.join(',')),
});

const queryOf = (names: readonly QueryName[], ids: readonly string[]): fc.Arbitrary<string> => {
  const known = parameters(ids);
  const given = names.map((name) => {
    const pair = known[name].map((value) => `${writtenName(name)}=${value}`);
    return fc.oneof(
      { arbitrary: pair.map((one) => [one]), weight: 12 },
      { arbitrary: fc.constant<string[]>([]), weight: 2 },
      { arbitrary: pair.map((one) => [one, one]), weight: 1 },
    );
  });
  const extra = fc.oneof(
    { arbitrary: fc.constant<string[]>([]), weight: 6 },
    { arbitrary: anyText.map((text) => [text.replaceAll('#', '')]), weight: 1 },
  );
  return fc.tuple(fc.tuple(...given), extra).map(([pairs, more]) => [...pairs.flat(), ...more].join('&'));
};

const download = fc.record(
  {
    package_id: fc.oneof(one('com.example.one', '', 'x'.repeat(255), 'x'.repeat(256)), fc.string()),
    package_version: fc.oneof(one('1.0', '1:2~3'), fc.string({ minLength: 1 })),
    package_author: one<unknown>(null, 'A', 7),
    repository_uri: one<unknown>(null, 'https://a.example/', []),
  },
  { requiredKeys: ['package_id', 'package_version'] },
);
const body: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { arbitrary: fc.array(download, { maxLength: 4 }).map((list) => JSON.stringify(list)), weight: 6 },
  fc.json(),
  fc.string(),
  fc.uint8Array({ maxLength: 64 }),
  one(
    '',
    'null',
    '{}',
    '[{}]',
    '[',
    `${'['.repeat(10_000)}`,
    '{"__proto__": []}',
    '\ufeff[]',
    JSON.stringify(Array.from({ length: 256 }, () => ({ package_id: 'a', package_version: '1' }))),
    JSON.stringify(Array.from({ length: 257 }, () => ({ package_id: 'a', package_version: '1' }))),
    `[${' '.repeat(300_000)}]`,
  ),
);

const headers = fc.record(
  {
    accept: one('*/*', 'application/json', 'text/html', 'text/html;q=0', 'x', ''),
    'accept-encoding': one('identity', 'gzip', 'br', 'zstd, gzip', '*', '*;q=0', 'gzip;q=x', ','),
    'if-none-match': one('*', '"x"', 'W/"x"', '"', ''),
    'x-forwarded-for': one('1.2.3.4', '::1, 1.2.3.4', '\t', 'x'.repeat(1000)),
    range: one('bytes=0-1', 'bytes=5-', 'x'),
    origin: one('https://other.example', 'null'),
    'if-modified-since': one('Fri, 01 Jan 2100 00:00:00 GMT', 'x'),
    cookie: one('a=b', '='),
    host: one('a', '', 'evil.example:99999', '[::1]'),
  },
  { requiredKeys: [] },
);
const contentType = one(
  'application/json',
  'application/json; charset=utf-8',
  'text/plain',
  'application/vnd.x+json',
  'multipart/form-data',
  '',
);

const methodFor = (usual: string) =>
  fc.oneof(
    { arbitrary: fc.constant(usual), weight: 10 },
    one('HEAD', 'GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'),
  );

const segment = (names: readonly string[]) =>
  mostly(
    one(...names.map(encodeURIComponent)),
    fc.oneof(anyText, one('none.of.these', 'search', 'multi', 'ranking', 'a%2Fb', '%61')),
  );

/** Requests to a server that knows these identifiers and slugs. */
export const arbitraryRequest = (ids: readonly string[], slugs: readonly string[]): fc.Arbitrary<Sent> => {
  const toOperation = Object.values(operations).map((operation) => {
    const paged = 'paged' in operation ? operation.paged.query : [];
    const names = 'query' in operation ? operation.query : paged;
    const query = names.length > 0 ? queryOf(names, ids) : fc.oneof({ arbitrary: fc.constant(''), weight: 4 }, anyText);
    const asked = fc.tuple(
      methodFor(operation.method),
      one('/v2', '/v2', ''),
      segment(ids),
      segment(slugs),
      query,
      headers,
    );
    return asked.chain(([method, root, id, slug, search, fields]): fc.Arbitrary<Sent> => {
      const path = operation.address
        .replace('{packageId}', () => id)
        .replace('{repositorySlug}', () => slug)
        .replace('{pageNumber}', '1');
      const target = inTarget(`${root}${path}${search === '' ? '' : `?${search}`}`);
      if (method === 'GET' || method === 'HEAD') return fc.constant({ method, target, headers: fields });
      return fc.tuple(body, contentType).map(([content, type]) => ({
        method,
        target,
        headers: { ...fields, ...(type === '' ? {} : { 'content-type': type }) },
        body: content,
      }));
    });
  });
  const toNothing = fc
    .tuple(
      methodFor('GET'),
      one('/v2/', '/jailbreak/', '/v2/jailbreak/', '/v2/jailbreak/package/', '/v2/jailbreak/download/'),
      anyText,
      headers,
    )
    .map(([method, start, rest, fields]) => ({ method, target: start + rest, headers: fields }));
  return fc.oneof(...toOperation.map((arbitrary) => ({ arbitrary, weight: 3 })), { arbitrary: toNothing, weight: 3 });
};
