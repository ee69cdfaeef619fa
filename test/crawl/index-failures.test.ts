import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findingText } from '../../src/contract/finding-texts.ts';
import {
  composeIndex,
  compress,
  generateRepository,
  makePackages,
  type RepositoryPlan,
} from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { type Fault, statusFault, webPage } from '../support/origin-server.ts';

useCrawlBench();

const text = composeIndex(makePackages(3));

describe('an index that is none', () => {
  const body = (content: Uint8Array | string): Fault => ({ kind: 'body', body: content });
  const broken: [string, Fault, string][] = [
    ['a web page', body(webPage), 'index-html'],
    ['a compressed web page', body(gzipSync(webPage)), 'index-html'],
    ['nothing', body(''), 'index-empty'],
    ['compressed nothing', body(gzipSync('')), 'index-empty'],
    ['white space', body(gzipSync('\n \n')), 'index-empty'],
    ['plain text', body(text), 'index-wrong-compression'],
    ['another compression', body(Buffer.from('BZh91AY&SY')), 'index-wrong-compression'],
    ['a truncated stream', body(gzipSync(text).subarray(0, 60)), 'index-truncated'],
    ['a corrupt stream', body(Buffer.from(gzipSync(text)).fill(0xff, 40, 60)), 'index-corrupt'],
    ['garbage after the stream', body(Buffer.concat([gzipSync(text), Buffer.from('<b>')])), 'index-trailing-garbage'],
    ['some other text', body(gzipSync('{"error": "no such file"}')), 'index-unreadable'],
    ['a bomb', body(gzipSync(Buffer.alloc(4_000_000))), 'index-bomb'],
    ['a cut connection', { kind: 'cut', after: 20 }, 'index-truncated'],
    ['a redirect loop', { kind: 'redirect', location: 'Packages.gz' }, 'redirects'],
    ['a refusal', statusFault(403), 'index-forbidden'],
    ['a file that is not there', statusFault(404), 'index-missing'],
    ['a file that is gone', statusFault(410), 'index-missing'],
    ['304 to an unconditional request', statusFault(304), 'index-missing'],
    ['an error of the server', statusFault(500), 'server-error'],
    [
      'another transfer encoding',
      { kind: 'body', body: gzipSync(text), headers: { 'content-encoding': 'br' } },
      'index-encoded',
    ],
  ];

  // All at once, each in a repository of its own: they have nothing in common but the crawl.
  const slugs = broken.map((_, index) => `broken-${index}`);
  const crawlBroken = () => bench.crawl(slugs.map((slug) => makeEntry(slug, bench.origin.uri(slug))));
  const serveBroken = async (plan: RepositoryPlan) => {
    for (const [index, [, fault]] of broken.entries()) {
      bench.origin.serve(`${slugs[index]}`, await generateRepository(plan));
      bench.origin.break(`/${slugs[index]}/Packages.gz`, fault);
    }
  };

  it('C8: each of them has a name', async () => {
    await serveBroken({ compressions: ['gz'], hashes: [] });
    for (const [index, outcome] of (await crawlBroken()).entries()) {
      const [what, , code] = broken[index] ?? [];
      expect(outcome, what).toMatchObject({ outcome: 'failed', code });
      expect(outcome.reason, what).toMatch(/Packages.gz/);
      expect(await bench.store.read(outcome.slug), what).toBeUndefined();
    }
  });

  it.each([
    ['index-empty', '', '/Packages.gz (0 bytes)'],
    ['index-unreadable', gzipSync('{}'), '/Packages.gz'],
  ])('C8: %s says nothing of the other compressions, which may be empty too', async (code, compressed, example) => {
    const lineOf = (name: string, bytes: Uint8Array | string) =>
      ` ${createHash('sha256').update(bytes).digest('hex')} ${bytes.length} ${name}\n`;
    const release = `SHA256:\n${lineOf('Packages', '')}${lineOf('Packages.gz', compressed)}`;
    const files = { '/Release': release, '/Packages': '', '/Packages.gz': compressed };
    bench.origin.serve('repo', new Map(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes)])));
    const { outcome, findings } = await bench.crawlOne();
    expect({ outcome, findings }).toMatchObject({ outcome: 'fresh', findings: [{ code, example }] });
    expect((await bench.store.read('repo'))?.packages).toMatchObject({ path: '/Packages', stanzas: 0 });
    expect(findingText(code as 'index-empty').operator).not.toMatch(/others? (?:are|do)/);
  });

  it('C8: of one of crumbs it is said how many are allowed', async () => {
    bench.origin.serve('repo', await generateRepository({ compressions: ['zst'], hashes: [] }));
    bench.origin.break('/repo/Packages.zst', body(Buffer.concat(Array(3000).fill(zstdCompressSync('')))));
    const { code, reason } = await bench.crawlOne();
    expect(code).toBe('index-corrupt');
    expect(reason).toContain('too many frames for its bytes (limit codecPieces: 1,000');
  });

  it('C8: each of them sends the crawl on to the other compressions', async () => {
    await serveBroken({ compressions: ['gz', 'plain'], hashes: [] });
    for (const [index, outcome] of (await crawlBroken()).entries()) {
      const [what, , code = ''] = broken[index] ?? [];
      expect(outcome.outcome, what).toBe('fresh');
      expect((await bench.store.read(outcome.slug))?.packages.compression, what).toBe('plain');
      const codes = outcome.findings.map((finding) => finding.code);
      // Where Release lists no file, what is refused cannot be told from what is not there.
      if (code !== 'index-missing' && code !== 'index-forbidden') expect(codes, what).toContain(code);
    }
  });

  it('none of them takes room while the next file is asked for', async () => {
    bench.origin.serve('repo', await generateRepository({ compressions: ['gz', 'plain'], hashes: [] }));
    bench.origin.break('/repo/Packages.gz', body(webPage));
    let received: string[] = [];
    bench.origin.break('/repo/Packages', () => {
      const all = readdirSync(bench.directory, { recursive: true, withFileTypes: true });
      const files = all.filter((one) => one.isFile());
      received = files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), 'utf8'));
      return undefined;
    });
    const network = { headersMs: 30_000, graceMs: 30_000, totalMs: 60_000 };
    expect(await bench.crawlOne({ network })).toMatchObject({ outcome: 'fresh' });
    expect(received).toEqual([expect.stringMatching(/^Origin: /m)]);
  });

  it('C8: of the files that are not there, those are named that Release lists', async () => {
    const files = await generateRepository({ compressions: ['xz', 'gz', 'plain'], listed: ['xz', 'plain'] });
    bench.origin.serve('repo', files);
    for (const name of ['Packages.xz', 'Packages']) bench.origin.break(`/repo/${name}`, statusFault(404));
    const { outcome, findings, asked } = await bench.crawlOne();
    expect(asked).toContain('/Packages.bz2 404');
    expect(outcome).toBe('fresh');
    expect(findings).toMatchObject([{ code: 'index-missing', count: 2, example: 'status 404 for /Packages.xz' }]);
  });

  it('C8: a refusal is told from what is not there', async () => {
    bench.origin.serve('repo', await generateRepository({ compressions: ['gz'], hashes: [] }));
    for (const status of [401, 402, 451]) {
      bench.origin.break('/repo/Packages.gz', statusFault(status));
      expect((await bench.crawlOne()).code, `${status}`).toBe('index-forbidden');
    }
  });

  it('C4: each of them leaves the last good data in place', async () => {
    const plan = { compressions: ['gz'], hashes: [] } as const;
    for (const slug of slugs) bench.origin.serve(slug, await generateRepository(plan));
    await crawlBroken();
    const before = await Promise.all(slugs.map((slug) => bench.store.read(slug)));
    await serveBroken({ ...plan, packages: makePackages(4) });
    bench.pass(60);
    bench.origin.reset();
    const outcomes = await crawlBroken();
    const asked = bench.origin.requests.map(({ path }) => path);
    for (const [index, [what, fault]] of broken.entries()) {
      const slug = `${slugs[index]}`;
      expect(asked, what).toContain(`/${slug}/Packages.gz`);
      // 304 to a conditional request is an answer like any other.
      const expected = 'status' in fault && fault.status === 304 ? 'unchanged' : 'stale';
      expect(outcomes[index], what).toMatchObject({ slug, outcome: expected });
      expect(before[index], what).toMatchObject({ packages: { stanzas: 3 } });
      expect(await bench.store.read(slug), what).toMatchObject({ ...before[index], checkedAt: expect.any(String) });
    }
  });

  it('C2: no more is received than allowed, nor than Release lists', async () => {
    bench.origin.serve('repo', await generateRepository({ compressions: ['gz'], hashes: [] }));
    bench.origin.break('/repo/Packages.gz', { kind: 'endless', chunk: Buffer.alloc(1000, '\x1f\x8b', 'latin1') });
    const limits = { indexBytes: 100_000 };
    expect(await bench.crawlOne({ limits })).toMatchObject({ outcome: 'failed', code: 'index-too-large' });
    const files = await generateRepository({ compressions: ['gz'] });
    bench.origin.serve('repo', files);
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'index-mismatch' });
    expect(outcome.bytes).toBeLessThan(100_000);
  });

  it.each([
    ['zst', 'zstd'],
    ['xz', 'x-xz'],
    ['lzma', 'lzma'],
    ['bz2', 'x-bzip2'],
    ['bz2', 'bzip2'],
    ['gz', 'x-gzip'],
  ] as const)(
    'C8: a Packages.%s whose own compression is called the transfer encoding %s is taken',
    async (name, coding) => {
      const files = await generateRepository({ compressions: [name], hashes: [] });
      const path = `/Packages.${name}`;
      const bytes = files.get(path) ?? '';
      bench.origin.serve('repo', files);
      bench.origin.break(`/repo${path}`, { kind: 'body', body: bytes, headers: { 'content-encoding': coding } });
      expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', code: null });
      bench.origin.break(`/repo${path}`, { kind: 'body', body: bytes, headers: { 'content-encoding': 'br' } });
      await bench.store.remove('repo');
      expect((await bench.crawlOne()).code).toBe('index-encoded');
    },
  );

  it('V4: a compressed index without a length counts, and shows by itself where it was cut', async () => {
    bench.origin.serve('repo', await generateRepository({ compressions: ['gz'], hashes: [] }));
    bench.origin.break('/repo/Packages.gz', { kind: 'unframed' });
    expect((await bench.crawlOne()).outcome).toBe('fresh');
    bench.origin.break('/repo/Packages.gz', { kind: 'unframed', after: 60 });
    await bench.store.remove('repo');
    expect((await bench.crawlOne()).code).toBe('index-truncated');
  });

  it('V4: a plain index without a length counts where a hash confirms it', async () => {
    for (const hashes of [[], ['sha256']] as const) {
      bench.origin.serve('repo', await generateRepository({ compressions: ['plain'], hashes }));
      bench.origin.break('/repo/Packages', { kind: 'unframed' });
      expect((await bench.crawlOne()).code).toBe(hashes.length > 0 ? null : 'index-length-unknown');
      bench.origin.break('/repo/Packages', { kind: 'unframed', after: 100 });
      await bench.store.remove('repo');
      expect((await bench.crawlOne()).code).toBe(hashes.length > 0 ? 'index-mismatch' : 'index-length-unknown');
    }
  });
});

describe('an index that Release does not confirm', () => {
  it('C3: is why Release is asked for once more, whatever is wrong with its other compressions', async () => {
    bench.origin.serve('repo', await generateRepository({ compressions: ['gz', 'plain'] }));
    bench.origin.break('/repo/Packages.gz', { kind: 'body', body: webPage });
    bench.origin.put('/repo/Packages', composeIndex(makePackages(4)));
    const { code, asked } = await bench.crawlOne();
    expect(code).toBe('index-mismatch');
    expect(asked.filter((line) => line.startsWith('/Release '))).toHaveLength(2);
  });

  it.each(['md5', 'sha1', 'sha256', 'sha512'] as const)(
    'C3: is refused by its %s, and the old data stays',
    async (algorithm) => {
      bench.origin.serve('repo', await generateRepository({ compressions: ['gz'], hashes: [algorithm] }));
      expect((await bench.crawlOne()).outcome).toBe('fresh');
      const before = await bench.store.read('repo');
      const files = await generateRepository({ packages: makePackages(4), compressions: ['gz'], hashes: [algorithm] });
      const wrong = Buffer.from(files.get('/Release') ?? '')
        .toString()
        .replace(/ [0-9a-f]{8}/, ' 00000000');
      bench.origin.serve('repo', files.set('/Release', Buffer.from(wrong)));
      const outcome = await bench.crawlOne();
      expect(outcome).toMatchObject({ outcome: 'stale', code: 'index-mismatch' });
      expect(outcome.reason).toContain(algorithm);
      expect(await bench.store.read('repo')).toEqual(before);
      // Release was asked for once more, in case both were just changing.
      expect(outcome.asked).toEqual(['/Release 200', '/Packages.gz 200', '/Release 304']);
    },
  );

  it('C3: is asked for without a condition, too, where the origin tells files apart by date and size only', async () => {
    const [one = {}, ...others] = makePackages(3);
    const serve = async (Version: string) => {
      const packages = [{ ...one, Version }, ...others];
      bench.origin.serve('repo', await generateRepository({ packages, compressions: ['plain'] }));
    };
    bench.origin.break('/repo/Packages', ({ headers }) => (headers['if-none-match'] ? statusFault(304) : undefined));
    await serve('1.0.1');
    await bench.crawlOne();
    await serve('1.0.2');
    const asked = ['/Release 200', '/Packages 304', '/Packages 200'];
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', asked });
    // Of another size, it is Release that does not fit.
    await serve('1.0.10');
    const mismatched = await bench.crawlOne();
    expect(mismatched).toMatchObject({ outcome: 'stale', detail: '/Packages is unchanged, and Release is not' });
    expect(mismatched.asked).not.toContain('/Packages 200');
  });

  it('C3: is refused by its size', async () => {
    const files = await generateRepository({ compressions: ['gz'] });
    const wrong = Buffer.from(files.get('/Release') ?? '')
      .toString()
      .replace(/ (\d+) Packages/, ' 99999 Packages');
    bench.origin.serve('repo', files.set('/Release', Buffer.from(wrong)));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'index-mismatch' });
  });

  it('C3: is replaced by another that it does confirm, never by one that it does not', async () => {
    const files = await generateRepository({ compressions: ['xz', 'gz'] });
    bench.origin.serve('repo', files.set('/Packages.xz', await compress(composeIndex(makePackages(9)), 'xz')));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [{ code: 'index-mismatch' }] });
    await bench.store.remove('repo');
    bench.origin.serve('repo', new Map([...files, ['/Packages.bz2', await compress(text, 'bz2')]]));
    bench.origin.remove('/repo/Packages.gz');
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'index-mismatch' });
    expect(outcome.asked).not.toContain('/Packages.bz2 200');
  });

  it('C3: is refused where it is an unlisted compression of another text than the listed one', async () => {
    const files = await generateRepository({ compressions: ['plain'] });
    files.set('/Packages.xz', await compress(composeIndex(makePackages(9)), 'xz'));
    files.delete('/Packages');
    bench.origin.serve('repo', files);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'index-mismatch' });
  });
});

describe('a shrunken index', () => {
  it('C4: does not replace the last good data where more than half is gone', async () => {
    bench.origin.serve('repo', await generateRepository({ packages: makePackages(10) }));
    await bench.crawlOne();
    for (const count of [4, 0]) {
      bench.origin.serve('repo', await generateRepository({ packages: makePackages(count) }));
      expect(await bench.crawlOne()).toMatchObject({ outcome: 'stale', code: 'index-shrunken' });
      expect((await bench.store.read('repo'))?.packages.stanzas).toBe(10);
    }
    bench.origin.serve('repo', await generateRepository({ packages: makePackages(5) }));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
  });
});

describe('an index whose stanzas are of no use', () => {
  const serveText = async (packages: string) =>
    bench.origin.serve('repo', await generateRepository({ packages, compressions: ['gz'] }));

  it('C4: does not replace the last good data, however many lines begin with Package', async () => {
    const whole = composeIndex(makePackages(40));
    await serveText(whole);
    await bench.crawlOne();
    const useless = [
      whole.replaceAll('Version:', 'Vers:'),
      whole.replaceAll(/^Filename:.*\n/gm, ''),
      // The same one, forty times.
      composeIndex(makePackages(1)).concat('\n').repeat(40),
    ];
    for (const text of useless) {
      await serveText(text);
      expect(await bench.crawlOne()).toMatchObject({ outcome: 'stale', code: 'index-shrunken' });
    }
    expect((await bench.store.read('repo'))?.packages.stanzas).toBe(40);
  });

  it('C4: is compared by one measure with what another version counted otherwise', async () => {
    const [good = {}] = makePackages(1);
    const useless = composeIndex(makePackages(40)).replaceAll('Version:', 'Vers:');
    await serveText(`${composeIndex([good])}\n${useless}`);
    await bench.crawlOne();
    const snapshot = await bench.store.read('repo');
    if (!snapshot) throw new Error('it was crawled');
    await bench.store.write({ ...snapshot, packages: { ...snapshot.packages, stanzas: 41 } }, []);
    await serveText(composeIndex([good]));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
    expect((await bench.store.read('repo'))?.packages.stanzas).toBe(1);
  });
});
