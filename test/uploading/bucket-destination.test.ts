import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cacheControlOf, contentTypeOf } from '../../src/contract/file-headers.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { BucketDestination } from '../../src/uploading/bucket-destination.ts';
import { Claim } from '../../src/uploading/claim.ts';
import { fileOf } from '../../src/uploading/local-publication.ts';
import { formatRecord, newRecord, recordName } from '../../src/uploading/record.ts';
import type { S3Client, S3Request } from '../../src/uploading/s3-client.ts';
import { Conflict } from '../../src/uploading/upload-error.ts';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { bucket, ObjectStoreServer, type Refusal, storeCredentials } from '../support/object-store.ts';
import { type Files, Publication } from '../support/publication.ts';
import { send, storeTarget } from '../support/uploading.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'debdex-store-'));
let server: ObjectStoreServer;
let places = 0;
const place = () => `p${++places}`;

beforeAll(async () => {
  server = await ObjectStoreServer.start(folder);
});
beforeEach(() => {
  server.refuse = undefined;
  server.knowsConditions = true;
  server.delay = undefined;
  server.requests.length = 0;
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const names = [
  'plain',
  'g++',
  'a~b',
  '100%',
  'a b',
  'a+b',
  'ünï-é',
  'e\u0301',
  'A.B',
  '😀',
  "it's(*)!",
  '=20',
  '&?#',
  '-',
];
const odd: Files = {
  'index.html': 'site',
  'about/index.html': 'about',
  'feed.atom': 'feed',
  'assets/x.abc.js': 'script',
  'v2/index.json': 'landing',
  'v2/openapi.json': '{}',
  'v2/jailbreak/repository/one.json': 'one',
  'v2/jailbreak/repository/one/packages.json': 'packages of one',
  ...Object.fromEntries(names.map((name) => [documentPath.package(name), `package ${name}`])),
  [documentPath.package('../../etc/passwd')]: 'hostile',
  [documentPath.package('search')]: 'a word of the API',
};
/** Of each kind one, where the subject is how they are sent: each object is three files of the store of the tests. */
const few: Files = Object.fromEntries(
  Object.entries(odd).filter(([name]) => !name.includes('/package/') || name === documentPath.package('plain')),
);
const get = async (prefix: string, address: string) => {
  const response = await fetch(`${server.base}/${prefix}${prefix === '' ? '' : '/'}${address}`);
  return { status: response.status, text: await response.text(), headers: response.headers };
};

describe('in object storage', () => {
  it.each(['', 'p/q'])(
    'H4: every documented address answers below "%s" without any rule, whatever the identifier, and with the content type and Cache-Control of the server',
    async (prefix) => {
      const publication = new Publication();
      // At the top of a bucket those that a prefix could make others of.
      const asked = prefix === '' ? ['plain', 'g++', 'a b', '-'] : names;
      const isAsked = (file: string) => names.every((one) => file !== documentPath.package(one) || asked.includes(one));
      const published = Object.fromEntries(Object.entries(odd).filter(([file]) => isAsked(file)));
      await publication.publish(published);
      await send(publication.out, storeTarget(server, prefix), { force: true });
      for (const name of asked) {
        const address = `v2/jailbreak/package/${encodeURIComponent(name)}`;
        expect(await get(prefix, address), name).toMatchObject({ status: 200, text: `package ${name}` });
      }
      // As Amazon reads a "+" that nobody encoded, unless that is the name of another.
      expect((await get(prefix, 'v2/jailbreak/package/g%20%20')).text).toBe('package g++');
      expect((await get(prefix, 'v2/jailbreak/package/a%20b')).text).toBe('package a b');
      for (const [address, text] of [
        ['v2/', 'landing'],
        ['v2/index.html', 'landing'],
        ['v2/index.json', 'landing'],
        ['about/', 'about'],
        ['v2/jailbreak/repository/one', 'one'],
        ['v2/jailbreak/repository/one/packages', 'packages of one'],
        ['v2/jailbreak/package/search.json', 'a word of the API'],
      ] as const) {
        expect((await get(prefix, address)).text, address).toBe(text);
      }
      expect((await get(prefix, 'v2/jailbreak/package/search')).status).toBe(404);
      expect(server.keys().filter((key) => key.includes('etc/passwd'))).toEqual([]);
      // Headers are of names, whatever they stand below.
      if (prefix === '') return;
      const files = [...Object.keys(odd), generationPath.current, publication.current.catalog.path];
      const addresses = [
        ['v2/', 'v2/index.json'],
        ['about/', 'about/index.html'],
        ['v2/jailbreak/package/plain', 'v2/x.json'],
      ] as const;
      for (const [address, file] of [...files.map((name) => [name, name] as const), ...addresses]) {
        const { headers } = await get(prefix, address.split('/').map(encodeURIComponent).join('/'));
        expect(headers.get('content-type'), address).toBe(contentTypeOf(file));
        expect(headers.get('cache-control'), address).toBe(cacheControlOf(file));
      }
    },
  );

  it('sends files under their own names alone where it is told to, and takes the others away in time', async () => {
    const publication = new Publication();
    await publication.publish(few);
    const target = storeTarget(server, place());
    await send(publication.out, target);
    const day = (number: number) => () => new Date(Date.now() + number * 86_400_000);
    expect(await send(publication.out, target, {}, { filesOnly: true })).toMatchObject({ sent: 0 });
    expect(target.names()).toContain('v2/jailbreak/package/plain');
    const { removed } = await send(publication.out, target, { now: day(2) }, { filesOnly: true });
    expect(removed).toBeGreaterThan(2);
    const lookups = target.names().filter((name) => name.startsWith('v2/jailbreak/package/'));
    expect(lookups.filter((name) => !name.endsWith('.json'))).toEqual([]);
    await send(publication.out, target, { now: day(2) });
    expect(target.names()).toContain('v2/jailbreak/package/plain');
  });

  it('opens a bucket to scripts of any site once, and keeps its other rules', async () => {
    const publication = new Publication();
    await publication.publish(few);
    const target = storeTarget(server, place());
    const rules = async () => {
      const answer = await fetch(`${server.base}/${target.title.split('/').at(-1)}/v2/index.json`, {
        headers: { origin: 'https://any.example' },
      });
      return answer.headers.get('access-control-allow-origin');
    };
    await send(publication.out, target, {}, { cors: true });
    expect(await rules()).toBe('*');
    server.requests.length = 0;
    await send(publication.out, target, {}, { cors: true });
    expect(server.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
  });

  it('P1: cut at any byte, it goes on by itself and sends what is signed for', async () => {
    const publication = new Publication();
    const many = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`v2/jailbreak/package/p${index}.json`, 'x'.repeat(index * 197)]),
    );
    await publication.publish({ ...few, ...many });
    const proxy = await CuttingProxy.start(server.port, () => 200 + Math.floor(Math.random() * 12_000));
    try {
      const target = storeTarget(server, place(), proxy.endpoint);
      const patience = { tries: 60, firstTries: 60, pauseMs: 1, longestPauseMs: 10 };
      await send(publication.out, target, {}, { patience });
      for (const [name, text] of Object.entries({ ...few, ...many })) {
        expect(target.read(name)?.toString(), name).toBe(text);
      }
      expect(proxy.cuts).toBeGreaterThan(0);
    } finally {
      await proxy.stop();
    }
  });

  it('P1: sends a file too large for memory under each of its names, and again where the store was busy', async () => {
    const publication = new Publication();
    const large = 'v2/jailbreak/repository/one/packages.json';
    const text = 'x'.repeat(3 * 2 ** 20);
    await publication.publish({ ...few, [large]: text });
    const target = storeTarget(server, place());
    const refused = new Set<string>();
    server.refuse = ({ method, key }) => {
      if (method !== 'PUT' || !/one.packages(\.json)?$/.test(key) || refused.has(key)) return undefined;
      refused.add(key);
      return { status: 503, code: 'SlowDown' };
    };
    await send(publication.out, target);
    expect(refused.size).toBe(2);
    for (const name of [large, large.replace('.json', '')]) expect(target.read(name)?.toString()).toBe(text);
  });

  it('H4: with verification, sends a file again if it is stored with another content type', async () => {
    const publication = new Publication();
    await publication.publish(few);
    const prefix = place();
    const target = storeTarget(server, prefix);
    await send(publication.out, target);
    const file = 'v2/jailbreak/package/plain.json';
    const note = path.join(folder, bucket, prefix, `${file}._S3rver_metadata.json`);
    const about = JSON.parse(readFileSync(note, 'utf8'));
    expect(about['content-type']).toMatch(/json/);
    writeFileSync(note, JSON.stringify({ ...about, 'content-type': 'text/plain' }));
    expect(await send(publication.out, target, { verify: true })).toMatchObject({ sent: 1 });
    expect(JSON.parse(readFileSync(note, 'utf8'))).toEqual(about);
  });

  it('P1: sends no file again that a killed upload had already sent', async () => {
    const publication = new Publication();
    await publication.publish(few);
    const target = storeTarget(server, place());
    let put = 0;
    // Everything fails from the eleventh file on. How often the record is sent before depends on the time that it takes.
    server.refuse = ({ method, key }) => {
      if (method === 'PUT' && !key.endsWith(recordName)) put++;
      return method === 'PUT' && put > 10 ? { status: 403, code: 'AccessDenied' } : undefined;
    };
    await expect(send(publication.out, target, { concurrency: 1 })).rejects.toThrow(/s3:PutObject/);
    expect(target.read(generationPath.current)).toBeUndefined();
    server.refuse = undefined;
    const brought = new Set(target.names());
    server.requests.length = 0;
    const { found } = await send(publication.out, target);
    const prefix = target.title.split('/').at(-1);
    const again = server
      .take('PUT')
      .filter((key) => brought.has(key.slice((prefix?.length ?? 0) + 1)) && !key.endsWith(recordName));
    expect(again).toEqual([]);
    expect(found).toBeGreaterThan(4);
  });

  it('P1: after an upload that was killed on its way to another generation it relies on nothing that this may have sent', async () => {
    const publication = new Publication();
    await publication.publish(few);
    const target = storeTarget(server, place());
    await send(publication.out, target);
    const file = 'v2/jailbreak/package/plain.json';
    await publication.publish({ ...few, [file]: 'B', 'v2/orphan.json': 'o' });
    server.refuse = ({ method, key }) =>
      method === 'PUT' && key.endsWith('generation.json') ? { status: 403, code: 'AccessDenied' } : undefined;
    await expect(send(publication.out, target)).rejects.toThrow();
    expect(target.read(file)?.toString()).toBe('B');
    server.refuse = undefined;
    // As it was in the generation that is in force there: by its inventory nothing has changed.
    await publication.publish(few);
    await send(publication.out, target);
    expect(target.read(file)?.toString()).toBe(few[file]);
    const late = { now: () => new Date(Date.now() + 2 * 86_400_000) };
    await send(publication.out, target, late);
    expect(target.read('v2/orphan.json')).toBeUndefined();
  });

  it('P1: waits and goes on where the store is busy, fails, is asked too much, or waited in vain', async () => {
    const publication = new Publication();
    await publication.publish(few);
    const target = storeTarget(server, place());
    const refusals: readonly Refusal[] = [
      { status: 503, code: 'SlowDown' },
      { status: 500, code: 'InternalError' },
      { status: 502, code: '' },
      { status: 429, code: '', headers: { 'retry-after': '0' } },
      { status: 400, code: 'RequestTimeout' },
    ];
    let refused = 0;
    // A HEAD is refused without a word.
    server.refuse = ({ method }, nth) =>
      nth % 3 === 0 && method !== 'HEAD' ? refusals[refused++ % refusals.length] : undefined;
    await send(publication.out, target);
    expect(refused).toBeGreaterThanOrEqual(refusals.length);
    server.refuse = undefined;
    expect(target.read(generationPath.current)?.toString()).toBe(publication.read(generationPath.current));
  });

  it('gives up at last on a store that goes on refusing', async () => {
    const publication = new Publication();
    await publication.publish(few);
    server.refuse = () => ({ status: 503, code: 'SlowDown' });
    await expect(send(publication.out, storeTarget(server, place()))).rejects.toThrow(
      /SlowDown.*goes on where it stopped/,
    );
  });

  it.each<[RegExp, Refusal]>([
    [/There is no bucket publications at/, { status: 404, code: 'NoSuchBucket' }],
    [/mind AWS_ACCESS_KEY_ID/, { status: 403, code: 'InvalidAccessKeyId' }],
    [/mind AWS_SECRET_ACCESS_KEY/, { status: 403, code: 'SignatureDoesNotMatch' }],
    [/renew AWS_ACCESS_KEY_ID/, { status: 400, code: 'ExpiredToken' }],
    [/clock of this machine/, { status: 403, code: 'RequestTimeTooSkewed' }],
    [
      /name eu-west-3 with --region/,
      { status: 400, code: 'AuthorizationHeaderMalformed', more: '<Region>eu-west-3</Region>' },
    ],
    [/name eu-north-1 with --region/, { status: 301, code: '', headers: { 'x-amz-bucket-region': 'eu-north-1' } }],
    [/another region than us-east-1/, { status: 301, code: '' }],
    [/s3:PutObject/, { status: 403, code: 'AccessDenied' }],
    [/--files-only/, { status: 400, code: 'XMinioParentIsObject' }],
    [/no more room/, { status: 507, code: 'QuotaExceeded' }],
  ])('says %s', async (message, refusal) => {
    const publication = new Publication();
    await publication.publish(few);
    server.refuse = ({ method }) => (method === 'PUT' ? refusal : undefined);
    await expect(send(publication.out, storeTarget(server, place()))).rejects.toThrow(message);
  });

  // As a proxy or a network answers before somebody signs in.
  it.each<[string, Refusal]>([
    ['a page', { status: 200, code: '', body: '<!doctype html><title>Sign in</title>' }],
    ['a redirect', { status: 302, code: '', body: '' }],
    ['a network that wants a sign-in', { status: 511, code: '', body: '<html></html>' }],
  ])('P1: takes %s for no answer of a store, from the beginning or later on', async (_what, page) => {
    const publication = new Publication();
    await publication.publish(few);
    const name = generationPath.current;
    for (const isMet of [
      () => true,
      (method: string) => method === 'PUT',
      (_: string, key: string) => key.endsWith(name),
    ]) {
      const target = storeTarget(server, place());
      server.refuse = ({ method, key }) => (isMet(method, key) ? page : undefined);
      await expect(send(publication.out, target)).rejects.toThrow(/No S3 store answers so: mind --endpoint/);
    }
  });

  it('quotes a store without control characters, which may be commands of a terminal', async () => {
    const publication = new Publication();
    await publication.publish(few);
    server.refuse = () => ({ status: 400, code: '\u001b[31mNo' });
    await expect(send(publication.out, storeTarget(server, place()))).rejects.toThrow('(400 \ufffd[31mNo as the test');
  });

  it('says what is missing: credentials, the right secret, a bucket, an endpoint', async () => {
    const publication = new Publication();
    await publication.publish(few);
    const target = storeTarget(server, place());
    const refuse = (flags: object, message: RegExp) =>
      expect(send(publication.out, target, {}, flags)).rejects.toThrow(message);
    await refuse({ environment: {} }, /no credentials: AWS_ACCESS_KEY_ID is not set/);
    await refuse({ environment: { AWS_ACCESS_KEY_ID: 'x' } }, /AWS_SECRET_ACCESS_KEY is not set/);
    await refuse({ environment: { ...storeCredentials, AWS_SECRET_ACCESS_KEY: 'x' } }, /mind AWS_SECRET_ACCESS_KEY/);
    await refuse({ address: 's3://elsewhere/x' }, /There is no bucket elsewhere/);
    await refuse({ endpoint: 'http://127.0.0.1:1' }, /could not be reached for GET of .*, 3 times.*--endpoint/);
    await refuse({ endpoint: 'nonsense' }, /--endpoint must be/);
  });

  it('P1: where a store knows no conditions it looks twice', async () => {
    const publication = new Publication();
    await publication.publish(few);
    const target = storeTarget(server, place());
    server.knowsConditions = false;
    const both = await Promise.allSettled([send(publication.out, target), send(publication.out, target)]);
    expect(both.map(({ status }) => status)).toContain('fulfilled');
    for (const [name, text] of Object.entries(few)) expect(target.read(name)?.toString(), name).toBe(text);
    expect(target.read(generationPath.current)?.toString()).toBe(publication.read(generationPath.current));
  });

  it('P1: reports that a store does not accept conditions, and goes on without them', async () => {
    const publication = new Publication();
    await publication.publish(few);
    const target = storeTarget(server, place());
    server.knowsConditions = false;
    server.refuse = ({ method, headers }) =>
      method === 'PUT' && (headers['if-match'] ?? headers['if-none-match']) !== undefined
        ? { status: 501, code: 'NotImplemented' }
        : undefined;
    await send(publication.out, target);
    expect(target.read(generationPath.current)?.toString()).toBe(publication.read(generationPath.current));
  });

  it('P1: stops when another has taken its place, and does not touch generation.json', async () => {
    const publication = new Publication();
    await publication.publish(few);
    const target = storeTarget(server, place());
    const other = Buffer.from('by somebody else');
    const { S3Client } = await import('../../src/uploading/s3-client.ts');
    const { createSender } = await import('../../src/net/sender.ts');
    const client = new S3Client(
      {
        name: bucket,
        endpoint: new URL(server.endpoint),
        region: 'us-east-1',
        credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
      },
      createSender({ connections: 1 }),
    );
    const prefix = target.title.slice(`s3://${bucket}/`.length);
    const take = () => client.request({ method: 'PUT', key: `${prefix}/${recordName}`, body: other });
    // The files that follow the first wait until the other stands there.
    server.delay = ({ key }) => (key.endsWith(recordName) ? undefined : taking);
    let taking: Promise<unknown> | undefined;
    const sending = send(publication.out, target, { concurrency: 1, onProgress: () => (taking ??= take()) });
    await expect(sending).rejects.toThrow(/Another upload .* has taken over/);
    await taking;
    expect(target.read(generationPath.current)).toBeUndefined();
    await client.close();
  });
});

describe('of a store that is unlike others', () => {
  interface StoreAnswer {
    readonly status?: number;
    readonly etag?: string | undefined;
    readonly length?: string;
    readonly digest?: string;
    readonly body?: string;
  }

  /** A bucket of which each request is answered so. */
  const openBucket = (answer: (request: S3Request) => StoreAnswer) => {
    const client = {
      bucket: { name: bucket },
      request: async (request: S3Request) => {
        const { status = 200, etag, length, digest, body = '' } = answer(request);
        const headers = { etag, 'content-length': length, 'x-amz-meta-sha256': digest };
        return { status, headers, body: Buffer.from(body) };
      },
    };
    return new BucketDestination({ client: client as unknown as S3Client, prefix: 'p', addresses: true });
  };

  it('treats a bucket as empty only at the end of its list, not after an empty page', async () => {
    const list = (more: boolean) => `<ListBucketResult><IsTruncated>${more}</IsTruncated></ListBucketResult>`;
    expect(await openBucket(() => ({ body: list(false) })).isEmpty()).toBe(true);
    expect(await openBucket(() => ({ body: list(true) })).isEmpty()).toBe(false);
  });

  it('P1: meets conditions with tags that a proxy in front has weakened', async () => {
    const strong = '"1"';
    const destination = openBucket(({ method, headers }) =>
      method === 'PUT' && ![undefined, strong].includes(headers?.['if-match'])
        ? { status: 412 }
        : { etag: `W/${strong}`, body: 'one' },
    );
    const tag = (await destination.read(recordName))?.tag;
    expect(await destination.replace(recordName, Buffer.from('two'), tag)).toBe(tag);
    expect(destination.isSure()).toBe(true);
  });

  it('knows its record by the tag that it has in the end, where conditions count for nothing and each PUT gives another tag', async () => {
    let puts = 0;
    let stands = '';
    const destination = openBucket(({ method, body }) => {
      if (method === 'PUT') stands = `${body}`;
      if (method === 'PUT') puts++;
      return { etag: `"${puts}"`, body: stands };
    });
    const tag = await destination.replace(recordName, Buffer.from('one'), undefined);
    expect(destination.isSure()).toBe(false);
    expect(await destination.read(recordName)).toEqual({ bytes: Buffer.from('one'), tag });
  });

  /** A bucket behind something that hands on other tags than the store has, or none. It has this record at first. */
  const openBehind = (tagOf: () => string | undefined, record?: string) => {
    let stands = record;
    let version = 0;
    return openBucket(({ method, headers, body }) => {
      if (method === 'GET') return stands === undefined ? { status: 404 } : { etag: tagOf(), body: stands };
      const [none, match] = [headers?.['if-none-match'], headers?.['if-match']];
      const isMet = match === undefined ? none === undefined || stands === undefined : match === `"${version}"`;
      if (!isMet) return { status: 412 };
      stands = `${body}`;
      version++;
      return { etag: tagOf() };
    });
  };

  it.each<[string, () => string | undefined]>([
    ['removes tags', () => undefined],
    ['has one tag for everything', () => '"same"'],
    ['has another tag each time', () => `"${randomUUID()}"`],
  ])('P1: says that something in front %s, rather than that another upload has taken over', async (_what, tagOf) => {
    const times = { renewMs: 3_600_000, silentMs: 1, pollMs: 1, settleMs: 1 };
    const first = await Claim.take(openBehind(tagOf), times, () => {});
    await expect(first.renew()).rejects.toThrow(/^s3:\S+ does not let \S+ be replaced, .* the header ETag/);
    await first.release();
    const record = formatRecord({ ...newRecord, format: 1, holder: null, turn: 1 }).toString();
    const second = Claim.take(openBehind(tagOf, record), times, () => {});
    await expect(second).rejects.toThrow(/the header ETag/);
  });

  it('P1: believes no answer without a tag that something was taken, as a network gives in which somebody has to sign in', async () => {
    const file = fileOf(Buffer.from('a document'));
    const put = (answer: (request: S3Request) => object) => openBucket(answer).put('v2/a', 'v2/a.json', file);
    await expect(put(() => ({}))).rejects.toThrow(/has taken v2\/a, and has no such file/);
    await expect(put(({ method }) => (method === 'HEAD' ? { status: 404 } : {}))).rejects.toThrow(/no such file/);
    await put(({ method }) => (method === 'HEAD' ? { length: '10' } : {}));
    await put(({ method }) => (method === 'HEAD' ? { digest: file.sha256 } : {}));
    const replace = (body: string) => openBucket(() => ({ body })).replace(recordName, Buffer.from('one'), '"1"');
    await expect(replace('')).rejects.toThrow(/has no such file/);
    await expect(replace('two')).rejects.toThrow(Conflict);
    expect(await replace('one')).toBe('');
  });
});

/** A bucket behind a client that answers so. */
const answering = (answer: (request: S3Request) => Partial<Awaited<ReturnType<S3Client['request']>>>) => {
  const request = async (asked: S3Request) => ({ status: 200, headers: {}, body: Buffer.alloc(0), ...answer(asked) });
  const client = { bucket: { name: 'index' }, request } as unknown as S3Client;
  return new BucketDestination({ client, prefix: '', addresses: false });
};

it('P1: a record that the store refuses to replace, because it did so before the answer was lost, is replaced', async () => {
  const bytes = Buffer.from('ours');
  const tellOf = (kept: string) =>
    answering(({ method }) =>
      method === 'GET' ? { headers: { etag: '"now"' }, body: Buffer.from(kept) } : { status: 412 },
    );
  expect(await tellOf('ours').replace(recordName, bytes, '"before"')).toBe('"now"');
  await expect(tellOf('of another').replace(recordName, bytes, '"before"')).rejects.toThrow(Conflict);
});

it('P1: an object of the same bytes that caches were told to keep otherwise is another one', async () => {
  const name = 'index.html';
  const headers = {
    'x-amz-meta-sha256': 'digest',
    'content-type': contentTypeOf(name),
    'cache-control': cacheControlOf(name),
  };
  const look = (other: Readonly<Record<string, string>>) =>
    answering(() => ({ headers: { ...headers, ...other } })).look(name, name, 'digest');
  expect(await look({})).toBe('same');
  for (const field of Object.keys(headers)) expect(await look({ [field]: 'other' }), field).toBe('other');
});

/** A bucket whose client refuses any status that it is not told to accept, as `S3Client` does. */
const refusing = (answer: (request: S3Request) => { readonly status: number; readonly etag?: string }, prefix = '') => {
  const request = async (asked: S3Request, accepted: readonly number[] = []) => {
    const { status, etag } = answer(asked);
    if (status >= 300 && !accepted.includes(status)) throw new Error(`refused: ${status}`);
    return { status, headers: { etag }, body: Buffer.alloc(0) };
  };
  const client = { bucket: { name: 'index' }, request } as unknown as S3Client;
  return new BucketDestination({ client, prefix, addresses: true });
};

it('P1: a record that is gone, or refused in any of the ways of stores, is taken for that of another upload', async () => {
  for (const status of [404, 409, 412]) {
    const destination = refusing(({ method }) => ({ status: method === 'GET' ? 404 : status }));
    await expect(destination.replace(recordName, Buffer.from('ours'), '"before"')).rejects.toThrow(Conflict);
  }
  // Without a tag nothing is asked for that could be gone: there is no such bucket.
  const nowhere = refusing(() => ({ status: 404 }));
  await expect(nowhere.replace(recordName, Buffer.from('ours'), undefined)).rejects.toThrow('refused: 404');
});

it('P1: conditions count where a store refuses what does not meet them, by either status, and are not relied on before', async () => {
  for (const [status, isSure] of [
    [409, true],
    [412, true],
    [501, false],
    [200, false],
  ] as const) {
    let puts = 0;
    const destination = refusing(({ method }) => ({
      status: method === 'PUT' && ++puts === 2 ? status : 200,
      etag: `"${puts}"`,
    }));
    expect(destination.isSure()).toBe(false);
    await destination.replace(recordName, Buffer.alloc(0), undefined).catch(() => {});
    expect(destination.isSure(), `${status}`).toBe(isSure);
  }
});

it('P1: what is gone already is removed, and what may not be removed is not', async () => {
  await refusing(() => ({ status: 404 })).remove('v2/a.json');
  await expect(refusing(() => ({ status: 403 })).remove('v2/a.json')).rejects.toThrow('refused: 403');
});

it('a file has no name that is longer than stores accept, and is refused where its own is', async () => {
  const asked: string[] = [];
  const destination = refusing(({ key = '' }) => {
    asked.push(key);
    return { status: 200, etag: '"1"' };
  }, 'p');
  // With the prefix, the address has as many bytes as a key may have, and the file more.
  const long = 'ü'.repeat(510);
  const [address, longer] = [`${long}x/`, `${long}xx/`];
  expect([address, longer].map((name) => Buffer.byteLength(`p/${name}`))).toEqual([1024, 1025]);
  const namesOf = (name: string) => destination.namesOf(`${name}index.html`, () => false);
  expect(namesOf(address)).toEqual([`${address}index.html`, address]);
  expect(namesOf(longer)).toEqual([`${longer}index.html`]);
  const file = fileOf(Buffer.from('a'));
  await expect(destination.put(longer, `${longer}index.html`, file)).rejects.toThrow('use a shorter prefix');
  expect(asked).toEqual([]);
  await destination.put(address, `${address}index.html`, file);
  expect(asked).toEqual([`p/${address}`]);
});
