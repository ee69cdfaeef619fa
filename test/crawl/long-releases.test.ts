import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/contract/limits.ts';
import { inspectSignature } from '../../src/crawl/openpgp-signature.ts';
import { judgeSignatureApart } from '../../src/crawl/release-work.ts';
import { generateRepository } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { createSigner, type Signer } from '../support/signer.ts';

let signer: Signer;
let stranger: Signer;

beforeAll(async () => {
  [signer, stranger] = await Promise.all([createSigner(), createSigner()]);
});

useCrawlBench();

/** Runs `work` and returns the most processor time, in milliseconds, that this thread spent on it at a stretch. */
const measureStretch = async (work: () => Promise<unknown>): Promise<number> => {
  let most = 0;
  let before = process.threadCpuUsage();
  let done = false;
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    most = Math.max(most, (user + system) / 1000);
    before = process.threadCpuUsage();
    // Not at every turn: to look at nothing all the time would be most of what the test takes.
    if (!done) setTimeout(look, 1);
  };
  setTimeout(look, 1);
  await work();
  done = true;
  look();
  return most;
};

/** Runs `work` and returns how many threads were started for it. */
const countThreads = async (work: () => Promise<unknown>): Promise<number> => {
  let started = 0;
  const count = () => {
    started += 1;
  };
  process.on('worker', count);
  try {
    await work();
  } finally {
    process.off('worker', count);
  }
  return started;
};

/** The packets of armoured signatures in one block, so many times. */
const repeatPackets = (armoured: string, times: number): string => {
  const body = /\r?\n\r?\n([\s\S]*?)\r?\n(?:=|-----END)/.exec(armoured)?.[1] ?? '';
  const packet = Buffer.from(body, 'base64');
  const text = Buffer.concat(new Array(times).fill(packet)).toString('base64');
  return `-----BEGIN PGP SIGNATURE-----\n\n${text.replace(/.{64}/g, '$&\n')}\n-----END PGP SIGNATURE-----\n`;
};

/** Serves an InRelease with other signatures in place of its own, and with padding that nobody signed. */
const serveInRelease = async (signatures: (own: string) => string, padding = ''): Promise<void> => {
  const files = await generateRepository();
  const signed = await signer.clearSign(files.get('/Release') ?? '');
  const at = signed.indexOf('-----BEGIN PGP SIGNATURE-----');
  files.set('/InRelease', Buffer.from(signed.slice(0, at) + padding + signatures(signed.slice(at))));
  files.delete('/Release');
  bench.origin.serve('repo', files);
};

// Fifty milliseconds are aimed at; a test that others slow down must allow for more.
const generous = 250;

describe('what no stranger may take of the thread that serves all', () => {
  it('C7: an InRelease of 25,000 signatures is looked at in part, apart, and its repository published', async () => {
    await serveInRelease((own) => repeatPackets(own, 25_000), `X-Padding: ${'x'.repeat(2_000_000)}\n`);
    const found: unknown[] = [];
    const stretch = await measureStretch(async () => found.push(await bench.crawlOne()));
    expect(stretch).toBeLessThan(generous);
    expect(found).toMatchObject([{ outcome: 'fresh', signing: { state: 'bad' } }]);
    const [{ findings }] = found as [{ findings: { code: string; example: string }[] }];
    expect(findings.find(({ code }) => code === 'signatures-too-many')?.example).toContain(
      'limit signatureBytes: 32,768',
    );
  });

  it('C7: signatures in an InRelease are measured as those beside a Release: as long as the limit says, they count', async () => {
    const states: unknown[] = [];
    for (const bytes of [limits.signatureBytes, limits.signatureBytes + 1]) {
      // Blanks at the end of its last line, which apt lets pass.
      await serveInRelease((own) => `${own.trimEnd().padEnd(bytes - 1)}\n`);
      states.push((await bench.crawlOne()).signing?.state);
    }
    expect(states).toEqual(['signed', 'bad']);
  });

  it.each([
    ['of short lines', '\n'.repeat(1_000_000), false],
    ['of lines that are no field', 'x\n'.repeat(500_000), false],
    ['of files', ` ${'a'.repeat(64)} 1 some/file\n`.repeat(20_000), true],
    ['of one line', `X: ${'é'.repeat(500_000)}\n`, false],
  ])('C7: a Release of megabytes %s is read apart', async (_what, padding, isTakenAgain) => {
    const files = await generateRepository();
    files.set('/Release', Buffer.concat([files.get('/Release') ?? Buffer.of(), Buffer.from(padding)]));
    bench.origin.serve('repo', files);
    const outcomes: string[] = [];
    const threads = await countThreads(async () => {
      outcomes.push((await bench.crawlOne()).outcome);
      // Once it is known, it is read apart as well.
      if (isTakenAgain) outcomes.push((await bench.crawlOne()).outcome);
    });
    expect(outcomes).toEqual(isTakenAgain ? ['fresh', 'unchanged'] : ['fresh']);
    expect(threads).toBe(outcomes.length);
  });

  it('C7: a Release of a few kilobytes is read without a thread, which would take longer to start', async () => {
    bench.origin.serve('repo', await generateRepository());
    expect(await countThreads(() => bench.crawlOne())).toBe(0);
  });

  it.each([
    ['packages', (index: number) => `Package: p${index}\nVersion: 1\nSection: s${index}\n`],
    ['versions of one package', (index: number) => `Package: p\nVersion: ${index}\n`],
  ])('C7: an index of 40,000 %s is read a part at a time', async (_what, stanza) => {
    const index = Array.from({ length: 40_000 }, (_, i) => `${stanza(i)}Architecture: a\nFilename: f\n`).join('\n');
    const files = await generateRepository();
    files.clear();
    files.set('/Release', Buffer.from('Origin: Stranger\n'));
    files.set('/Packages.gz', gzipSync(index, { level: 1 }));
    bench.origin.serve('repo', files);
    const found: unknown[] = [];
    const stretch = await measureStretch(async () => found.push(await bench.crawlOne()));
    expect(found).toMatchObject([{ outcome: 'fresh' }]);
    expect(stretch).toBeLessThan(generous);
  });

  const ofUnknownPackets = Buffer.from([0xfc, 0]);
  it.each([
    ['packets of an unknown kind', 16_000, ofUnknownPackets],
    // Of these each costs as much, and that as many are judged in time is shown above.
    ['signature packets with nothing in them', 1_100, Buffer.from([0xc2, 0])],
  ])('C7: a Release.gpg of %s is judged apart', async (_what, times, packet) => {
    const files = await generateRepository();
    files.set('/Release.gpg', Buffer.concat(new Array<Buffer>(times).fill(packet)));
    bench.origin.serve('repo', files);
    const found: unknown[] = [];
    const threads = await countThreads(async () => found.push(await bench.crawlOne()));
    expect(found).toMatchObject([{ outcome: 'fresh' }]);
    expect(threads).toBe(1);
  });

  it.each([
    ['fields', 'F\xe9: x\n', 160_000],
    ['fields of one name', 'F:\xe9\n', 240_000],
    ['lines that are no field', '\xe9\n', 480_000],
    ['lines that continue nothing', ' \xe9\n', 320_000],
  ])('C7: a stanza of a megabyte of %s is left out, and not read to its end', async (_what, line, times) => {
    const files = await generateRepository();
    const own = 'Package: p\nVersion: 1\nArchitecture: a\nFilename: f\n';
    const begin = line.startsWith(' ') ? '' : 'Package: long\nVersion: 1\nArchitecture: a\nFilename: f\n';
    files.clear();
    files.set('/Release', Buffer.from('Origin: Stranger\n'));
    files.set('/Packages.gz', gzipSync(Buffer.from(`${own}\n${begin}${line.repeat(times)}\n${own}`, 'latin1')));
    bench.origin.serve('repo', files);
    const found: unknown[] = [];
    const stretch = await measureStretch(async () => found.push(await bench.crawlOne()));
    expect(found).toMatchObject([{ outcome: 'fresh' }]);
    expect(stretch).toBeLessThan(generous);
  });

  it('C2: the beginnings of signatures without an end are looked for once', async () => {
    const text = Buffer.from('x');
    const cost = async (times: number) => {
      const signature = '-----BEGIN PGP SIGNATURE-----\n'.repeat(times);
      const before = process.threadCpuUsage();
      await inspectSignature({ text, signature, clear: false }, undefined, new Date());
      const { user } = process.threadCpuUsage(before);
      return user / 1000;
    };
    await cost(10);
    expect(await cost(4000)).toBeLessThan(generous);
  });
});

describe('signatures', () => {
  it('C5: beyond the limit are left out, and those before it are judged, one hash for all', async () => {
    await serveInRelease((own) => repeatPackets(own, limits.signatures + 1));
    for (const key of [undefined, signer.publicKey]) {
      const entry = makeEntry('repo', bench.origin.uri('repo'), key === undefined ? {} : { key });
      const outcome = await bench.crawlOne({}, entry);
      expect(outcome.signing?.state).toBe(key === undefined ? 'signed' : 'verified');
      expect(outcome.findings).toMatchObject([{ code: 'signatures-too-many' }]);
      expect(outcome.findings[0]?.example).toContain('limit signatures: 16');
      await bench.store.remove('repo');
    }
  });

  // Not by crawls: those of short ones are (signatures.test.ts), and they go on from what is found here.
  it.each([
    ['its own, with the key', true, () => signer, null],
    ['its own, with the key of somebody else', true, () => stranger, 'other-key'],
    ['those of another text, with the key', false, () => signer, 'bad'],
    ['those of another text, without a key', false, () => undefined, 'bad'],
  ])('C5: of a long Release are judged as those of a short one: %s', async (_what, isOwn, keyOf, fault) => {
    const begin = '-----BEGIN PGP SIGNATURE-----';
    const signaturesOf = (text: string): string => text.slice(text.indexOf(begin));
    const judge = async (length: number) => {
      const signed = await signer.clearSign(`Origin: Example\nX-Padding: ${'x'.repeat(length)}\n`);
      const signatures = signaturesOf(isOwn ? signed : await signer.clearSign('something else\n'));
      const bytes = Buffer.from(signed.slice(0, signed.indexOf(begin)) + signatures);
      const question = { bytes, clear: true, detached: null, key: keyOf()?.publicKey, now: bench.now };
      const reports: unknown[] = [];
      const { signal } = new AbortController();
      const threads = await countThreads(async () => reports.push(await judgeSignatureApart(question, signal)));
      return { reports, threads };
    };
    const [short, long] = [await judge(10), await judge(140_000)];
    expect([short.threads, long.threads]).toEqual([0, 1]);
    expect(long.reports).toMatchObject([{ fault, over: null }]);
    expect(long.reports).toEqual(short.reports);
  });
});
