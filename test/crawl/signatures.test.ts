import { describe, expect, it } from 'vitest';
import {
  generateRepository,
  makePackages,
  type RepositoryFiles,
  type RepositoryPlan,
} from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { type Fault, statusFault } from '../support/origin-server.ts';
import { createSigner, type Signer, signRepository } from '../support/signer.ts';

const [signer, other] = [await createSigner(), await createSigner()];

useCrawlBench();

type Into = ('InRelease' | 'Release.gpg')[];

const generation = (count: number): RepositoryPlan => ({
  packages: makePackages(count),
  release: { Date: `Mon, 01 Jun 2026 0${count}:00:00 UTC` },
});

/** Serves a repository with so many packages, signed by `by`. */
const serve = async (
  count: number,
  by: Signer | null,
  into: Into = ['InRelease'],
  options = {},
): Promise<RepositoryFiles> => {
  const files = await generateRepository(generation(count));
  const signed = by ? await signRepository(files, by, into, options) : files;
  bench.origin.serve('repo', signed);
  return signed;
};

const pinned = (key: string) => makeEntry('repo', bench.origin.uri('repo'), { key });

const stanzas = async () => (await bench.store.read('repo'))?.packages.stanzas;

const styles: Into[] = [['InRelease'], ['Release.gpg']];

describe.each(styles)('without a key in the manifest, a release signed in %s', (...into) => {
  it('C5: is signed, not verified, and its key is remembered', async () => {
    await serve(3, signer, into);
    const { fingerprint } = signer;
    expect(await bench.crawlOne()).toMatchObject({
      outcome: 'fresh',
      findings: [],
      signing: { state: 'signed', signers: [fingerprint], remembered: [fingerprint] },
    });
  });

  it('C5: that is signed no longer is taken, and stays lost until it is signed again', async () => {
    await serve(3, signer, into);
    await bench.crawlOne();
    for (const count of [4, 5]) {
      await serve(count, null);
      const outcome = await bench.crawlOne();
      expect(outcome).toMatchObject({ outcome: 'fresh', signing: { state: 'lost', signers: [] } });
      expect(outcome.findings).toMatchObject([
        { code: 'signature-lost', example: expect.stringContaining(signer.fingerprint) },
      ]);
      expect(await stanzas()).toBe(count);
    }
    await serve(6, signer, into);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [], signing: { state: 'signed' } });
  });

  it('C5: that was lost and is back beside the same Release is noticed at the next visit', async () => {
    await serve(3, signer, into);
    await bench.crawlOne();
    await serve(4, null);
    for (const _ of [1, 2]) expect(await bench.crawlOne()).toMatchObject({ signing: { state: 'lost' } });
    await serve(4, signer, into);
    expect(await bench.crawlOne()).toMatchObject({ findings: [], signing: { state: 'signed' } });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', requests: 1 });
  });

  it('C5: by another key is taken with a finding that names both', async () => {
    await serve(3, signer, into);
    await bench.crawlOne();
    await serve(4, other, into);
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({
      outcome: 'fresh',
      signing: { state: 'key-changed', remembered: [signer.fingerprint] },
    });
    expect(outcome.findings).toMatchObject([{ code: 'signature-key-changed' }]);
    expect(outcome.findings[0]?.example).toContain(signer.fingerprint);
    expect(outcome.findings[0]?.example).toContain(other.fingerprint);
    expect((await bench.crawlOne()).findings).toMatchObject([{ code: 'signature-key-changed' }]);
  });

  it('C5: over other bytes is bad, which shows without a key too', async () => {
    const files = await serve(3, signer, into);
    const broken = Buffer.from(files.get(`/${into[0] === 'InRelease' ? 'InRelease' : 'Release'}`) ?? '');
    const changed = broken.toString().replace('Label: Example', 'Label: Exemple');
    bench.origin.put(`/repo/${into[0] === 'InRelease' ? 'InRelease' : 'Release'}`, changed);
    expect(await bench.crawlOne()).toMatchObject({
      outcome: 'fresh',
      findings: [{ code: 'signature-bad' }],
      signing: { state: 'bad', remembered: [] },
    });
  });
});

describe('without a key in the manifest', () => {
  it('C5: an unsigned repository is indexed without a finding', async () => {
    await serve(3, null);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [], signing: { state: 'unsigned' } });
  });

  it.each(['md5', 'sha1'] as const)('C5: a signature with %s is weak, whoever looks', async (hash) => {
    const files = await generateRepository(generation(3));
    const rsa = await createSigner({ rsa: true });
    const weak = await rsa.signWeakly(files.get('/Release') ?? '', hash);
    bench.origin.serve('repo', files.set('/Release.gpg', Buffer.from(weak)));
    expect(await bench.crawlOne()).toMatchObject({
      outcome: 'fresh',
      findings: [{ code: 'signature-weak' }],
      signing: { state: 'weak' },
    });
    expect(await bench.crawlOne({}, pinned(rsa.publicKey))).toMatchObject({
      outcome: 'stale',
      code: 'signature-weak',
    });
  });

  it('C5: garbage for a signature is bad', async () => {
    const files = await serve(3, null);
    const empty = '-----BEGIN PGP SIGNATURE-----\n\nnothing\n-----END PGP SIGNATURE-----\n';
    bench.origin.serve('repo', files.set('/Release.gpg', Buffer.from(empty)));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', signing: { state: 'bad', signers: [] } });
  });

  it('C5: a second signature beside the known one announces the next key', async () => {
    await serve(3, signer, ['Release.gpg']);
    await bench.crawlOne();
    const files = await generateRepository(generation(4));
    const release = files.get('/Release') ?? '';
    const both = `${await signer.sign(release)}${await other.sign(release)}`;
    bench.origin.serve('repo', files.set('/Release.gpg', Buffer.from(both)));
    expect(await bench.crawlOne()).toMatchObject({ findings: [], signing: { state: 'signed' } });
    await serve(5, other, ['Release.gpg']);
    expect(await bench.crawlOne()).toMatchObject({ findings: [], signing: { state: 'signed' } });
  });

  it('C5: a good signature does not make up for one that is over something else', async () => {
    const files = await generateRepository(generation(3));
    const release = files.get('/Release') ?? '';
    for (const both of [
      `${await signer.sign(release)}${await signer.sign('something else')}`,
      `${await other.sign('something else')}${await signer.sign(release)}`,
    ]) {
      bench.origin.serve('repo', files.set('/Release.gpg', Buffer.from(both)));
      await bench.store.remove('repo');
      expect((await bench.crawlOne()).signing?.state).toBe('bad');
      const keys = signer.publicKey + other.publicKey;
      expect((await bench.crawlOne({}, pinned(keys))).code).toBe('signature-bad');
    }
  });

  it.each<[string, RegExp]>([
    ['', /: \/Release is signed by nobody, and InRelease cannot be used \(release-empty: \/InRelease\)/],
    ['<html></html>', /nobody, and InRelease cannot be used \(release-html: \/InRelease\)/],
    [
      '-----BEGIN PGP SIGNED MESSAGE-----\n\nSuite: a\n-b\n',
      /\(release-unreadable: \/InRelease unexpected line starting/,
    ],
  ])('C5: an InRelease that cannot be used (%j) is told where the key wants a signature', async (text, reason) => {
    const files = await serve(3, null);
    bench.origin.serve('repo', files.set('/InRelease', Buffer.from(text)));
    const outcome = await bench.crawlOne({}, pinned(signer.publicKey));
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'signature-missing' });
    expect(outcome.reason).toMatch(reason);
  });

  it('C5: a signature that the origin does not answer for is asked for again, not held lost', async () => {
    await serve(3, signer, ['Release.gpg']);
    await bench.crawlOne();
    await serve(4, signer, ['Release.gpg']);
    bench.origin.break('/repo/Release.gpg', { kind: 'status', status: 500 });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', signing: { state: 'unanswered' } });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', signing: { state: 'unanswered' } });
    bench.origin.mend();
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', signing: { state: 'signed' } });
    expect((await bench.crawlOne()).asked).toEqual(['/Release 304']);
  });

  it.each<[string, Fault]>([
    ['an error', { kind: 'status', status: 503 }],
    ['half of it', { kind: 'cut', after: 10 }],
  ])('C5: a signature in an InRelease for which comes %s is asked for again, not held lost', async (_what, fault) => {
    await serve(3, signer);
    await bench.crawlOne();
    const entry = pinned(signer.publicKey);
    await bench.crawlOne({}, entry);
    bench.origin.break('/repo/InRelease', fault);
    expect(await bench.crawlOne({}, entry)).toMatchObject({ outcome: 'stale', code: 'signature-unanswered' });
    const unanswered = { state: 'unanswered', remembered: [signer.fingerprint] };
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', signing: unanswered });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', signing: unanswered });
    bench.origin.mend();
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [], signing: { state: 'signed' } });
    expect((await bench.crawlOne()).asked).toEqual(['/InRelease 304']);
    bench.origin.remove('/repo/InRelease');
    expect(await bench.crawlOne()).toMatchObject({ signing: { state: 'lost' } });
  });

  it('C5: a signature in an InRelease that was not answered is looked for again where Release changes meanwhile', async () => {
    await serve(3, signer);
    await bench.crawlOne();
    await serve(4, signer);
    // Of an index that is not there yet.
    const early = (await generateRepository(generation(5))).get('/Release') ?? '';
    let asked = 0;
    bench.origin.break('/repo/InRelease', () => (asked < 2 ? { kind: 'status', status: 503 } : undefined));
    bench.origin.break('/repo/Release', () => (++asked < 2 ? { kind: 'body', body: early } : undefined));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', signing: { state: 'signed' } });
    expect(await stanzas()).toBe(4);
  });

  it('C5: a signature in Release.gpg is lost with that, whatever the origin says of an InRelease it never had', async () => {
    bench.origin.break('/repo/InRelease', { kind: 'status', status: 500 });
    await serve(3, signer, ['Release.gpg']);
    expect(await bench.crawlOne()).toMatchObject({ signing: { state: 'signed' } });
    await serve(4, null);
    expect(await bench.crawlOne()).toMatchObject({ signing: { state: 'lost' } });
    bench.pass(86_400);
    expect(await bench.crawlOne()).toMatchObject({ signing: { state: 'lost' } });
  });

  it('C5: a signature that fits again is noticed the next day, though Release is the same', async () => {
    const files = await serve(3, signer, ['Release.gpg']);
    const right = files.get('/Release.gpg') ?? '';
    bench.origin.put('/repo/Release.gpg', await signer.sign('something else'));
    expect((await bench.crawlOne()).signing?.state).toBe('bad');
    bench.origin.put('/repo/Release.gpg', right);
    bench.pass(86_400);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', findings: [], signing: { state: 'signed' } });
  });
});

describe.each(styles)('with a key in the manifest, a release signed in %s', (...into) => {
  it('C5: by it is verified, and an unchanged one still costs one request', async () => {
    await serve(3, signer, into);
    const entry = pinned(signer.publicKey);
    expect(await bench.crawlOne({}, entry)).toMatchObject({
      outcome: 'fresh',
      findings: [],
      signing: { state: 'verified' },
    });
    expect(await bench.crawlOne({}, entry)).toMatchObject({ outcome: 'unchanged', requests: 1 });
  });

  const isInline = into[0] === 'InRelease';
  const faults: [string, () => Promise<unknown>, string][] = [
    ['unsigned', () => serve(4, null), 'signature-lost'],
    ['signed by another key', () => serve(4, other, into), 'signature-key-changed'],
    [
      'changed after it was signed',
      async () => {
        const files = await serve(4, signer, into);
        const name = isInline ? '/InRelease' : '/Release';
        bench.origin.put(
          `/repo${name}`,
          Buffer.from(files.get(name) ?? '')
            .toString()
            .replace('Label: E', 'Label: X'),
        );
      },
      'signature-bad',
    ],
  ];

  it.each(faults)('C5: that is %s leaves the last good data in place', async (_what, breakIt, code) => {
    await serve(3, signer, into);
    const entry = pinned(signer.publicKey);
    await bench.crawlOne({}, entry);
    const before = await bench.store.read('repo');
    await breakIt();
    const refused = await bench.crawlOne({}, entry);
    expect(refused).toMatchObject({ outcome: 'stale', code, signing: { state: 'verified' } });
    expect(refused.asked.filter((path) => path.includes('Packages'))).toEqual([]);
    expect(await bench.store.read('repo')).toEqual(before);
    await serve(5, signer, into);
    expect(await bench.crawlOne({}, entry)).toMatchObject({ outcome: 'fresh', signing: { state: 'verified' } });
  });

  it('C5: with a key that has expired since, or was revoked, leaves the last good data in place', async () => {
    const short = await createSigner({ validSeconds: 160 * 86_400 });
    await serve(3, short, into);
    const entry = pinned(short.publicKey);
    expect((await bench.crawlOne({}, entry)).outcome).toBe('fresh');
    expect(await bench.crawlOne({}, pinned(short.revoked))).toMatchObject({
      outcome: 'stale',
      code: 'signature-key-revoked',
    });
    bench.pass(30 * 86_400);
    expect(await bench.crawlOne({}, entry)).toMatchObject({ outcome: 'stale', code: 'signature-key-expired' });
    expect(await stanzas()).toBe(3);
  });
});

describe('with a key in the manifest', () => {
  it('C5: a repository that was never signed fails as such, and its index is not asked for at each visit', async () => {
    await serve(3, null);
    for (let visit = 0; visit < 2; visit++) {
      expect(await bench.crawlOne({}, pinned(signer.publicKey))).toMatchObject({
        outcome: 'failed',
        code: 'signature-missing',
        asked: ['/InRelease 404', '/Release 200', '/Release.gpg 404'],
      });
    }
  });

  it('C5: an index that no strong hash in Release confirms is not asked for', async () => {
    const files = await generateRepository({ ...generation(3), hashes: ['md5'] });
    bench.origin.serve('repo', await signRepository(files, signer, ['InRelease']));
    const outcome = await bench.crawlOne({}, pinned(signer.publicKey));
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'index-unverified', asked: ['/InRelease 200'] });
    expect(outcome.detail).toBe('/Packages');
  });

  it('C5: an index that a weak hash alone confirms is not taken, though Release has a strong one of its text', async () => {
    const files = await generateRepository({
      ...generation(3),
      compressions: ['xz', 'plain'],
      hashes: ['md5', 'sha256'],
    });
    const release = Buffer.from(files.get('/Release') ?? '').toString();
    files.set('/Release', Buffer.from(release.replace(/ [0-9a-f]{64} \d+ Packages\.xz\n/, '')));
    bench.origin.serve('repo', await signRepository(files, signer, ['InRelease']));
    expect(await bench.crawlOne({}, pinned(signer.publicKey))).toMatchObject({
      outcome: 'failed',
      code: 'index-unverified',
      detail: '/Packages.xz',
    });
  });

  it.each(styles)(
    'C6: a release signed in %s: after a pause that the origin asks for it is asked no more',
    async (into) => {
      await serve(3, signer, [into]);
      bench.origin.break('/repo/payment_endpoint', statusFault(429, { 'retry-after': '36000' }));
      const { outcome, asked } = await bench.crawlOne({}, pinned(signer.publicKey));
      expect([outcome, asked.at(-1)]).toEqual(['fresh', '/payment_endpoint 429']);
    },
  );

  it.each(styles)(
    'C5: a release signed in %s: the one that comes in its place between it and its index is judged as well',
    async (into) => {
      await serve(3, signer, [into]);
      const entry = pinned(signer.publicKey);
      await bench.crawlOne({}, entry);
      await serve(4, signer, [into]);
      const replacing = await signRepository(await generateRepository(generation(5)), other, [into]);
      bench.origin.break('/repo/Packages.bz2', (_, nth) => {
        if (nth === 1) bench.origin.serve('repo', replacing);
        return undefined;
      });
      const outcome = await bench.crawlOne({}, entry);
      expect(outcome).toMatchObject({ outcome: 'stale', code: 'signature-key-changed' });
      expect(outcome.asked).toContain(`/${into === 'InRelease' ? into : 'Release'} 200`);
      expect(await stanzas()).toBe(3);
    },
  );

  it('C5: that is added later is held against what is there already, and its removal too', async () => {
    await serve(3, signer);
    await bench.crawlOne();
    expect(await bench.crawlOne({}, pinned(other.publicKey))).toMatchObject({ code: 'signature-key-changed' });
    expect(await bench.crawlOne({}, pinned(signer.publicKey))).toMatchObject({
      outcome: 'unchanged',
      signing: { state: 'verified' },
    });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', signing: { state: 'signed' } });
  });

  it('C5: one good signature by one of several keys is enough', async () => {
    const files = await generateRepository(generation(4));
    const release = files.get('/Release') ?? '';
    const both = `${await other.sign(release)}${await signer.sign(release)}`;
    bench.origin.serve('repo', files.set('/Release.gpg', Buffer.from(both)));
    expect(await bench.crawlOne({}, pinned(signer.publicKey))).toMatchObject({ signing: { state: 'verified' } });
  });

  it('C5: a signature that is not answered for leaves the last good data in place', async () => {
    await serve(3, signer, ['Release.gpg']);
    const entry = pinned(signer.publicKey);
    await bench.crawlOne({}, entry);
    await serve(4, signer, ['Release.gpg']);
    bench.origin.break('/repo/Release.gpg', { kind: 'cut', after: 10 });
    expect(await bench.crawlOne({}, entry)).toMatchObject({ outcome: 'stale', code: 'signature-unanswered' });
  });

  it('V3: only the signed text counts: trailing blanks, dash escapes and CRLF verify as apt reads them', async () => {
    const files = await generateRepository(generation(3));
    const text = `${Buffer.from(files.get('/Release') ?? '')}X-Blanks: a \t\n- X-Dash: b\n`;
    const signed = await signer.clearSign(text);
    expect(signed).toContain('\n- - X-Dash');
    bench.origin.serve('repo', files.set('/InRelease', Buffer.from(signed.replaceAll('\n', '\r\n'))));
    expect(await bench.crawlOne({}, pinned(signer.publicKey))).toMatchObject({ signing: { state: 'verified' } });
  });
});

describe('a release that goes back in time', () => {
  const release = (hour: number, count: number) => ({
    packages: makePackages(count),
    release: { Date: `Mon, 01 Jun 2026 ${String(hour).padStart(2, '0')}:00:00 UTC` },
  });

  it('C5: is refused, and the last good data stays', async () => {
    bench.origin.serve('repo', await generateRepository(release(10, 4)));
    await bench.crawlOne();
    const before = await bench.store.read('repo');
    bench.origin.serve('repo', await generateRepository(release(9, 5)));
    const outcome = await bench.crawlOne();
    // The index is asked for too, once, so that one word of the operator answers all that is objected to.
    const asked = ['/Release 200', '/Packages.bz2 200'];
    expect(outcome).toMatchObject({ outcome: 'stale', code: 'release-older', asked });
    expect(outcome.reason).toContain('2026-06-01 09:00:00 UTC');
    expect(await bench.store.read('repo')).toEqual(before);
    bench.origin.serve('repo', await generateRepository(release(11, 6)));
    expect((await bench.crawlOne()).outcome).toBe('fresh');
  });

  it('C5: is compared by the moment, whatever the zone, and only where both dates can be read', async () => {
    const dated = (date: string | null, count: number) =>
      generateRepository({ packages: makePackages(count), release: { Date: date } });
    bench.origin.serve('repo', await dated('Mon, 01 Jun 2026 08:00:00 UTC', 3));
    await bench.crawlOne();
    bench.origin.serve('repo', await dated('Mon, 01 Jun 2026 09:30:00 +0200', 4));
    expect((await bench.crawlOne()).code).toBe('release-older');
    bench.origin.serve('repo', await dated('Mon, 01 Jun 2026 04:30:00 EDT', 4));
    expect((await bench.crawlOne()).outcome).toBe('fresh');
    bench.origin.serve('repo', await dated('the other day', 5));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [{ code: 'release-date-unreadable' }] });
    bench.origin.serve('repo', await dated('Mon, 01 Jun 2026 01:00:00 UTC', 5));
    expect((await bench.crawlOne()).outcome).toBe('fresh');
  });

  it('C5: from a date in the future is no going back: one wrong clock locks nobody out', async () => {
    const dated = (date: string, count: number) =>
      generateRepository({ packages: makePackages(count), release: { Date: date } });
    bench.origin.serve('repo', await dated('Mon, 01 Jun 2099 08:00:00 UTC', 3));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [{ code: 'release-in-future' }] });
    bench.origin.serve('repo', await dated('Mon, 01 Jun 2026 08:00:00 UTC', 4));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [] });
  });
});
