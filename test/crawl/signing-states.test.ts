import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { findingTexts, operatorSentence } from '../../src/contract/finding-texts.ts';
import { type SigningState, signingStates, signingTexts } from '../../src/contract/signing-states.ts';
import { generateRepository, makePackages, type RepositoryFiles } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { createSigner, type Signer, signRepository } from '../support/signer.ts';

const [signer, other] = [await createSigner(), await createSigner()];

useCrawlBench();

type Into = 'InRelease' | 'Release.gpg';
const hour = 3600;
const day = 24 * hour;

const generate = (count: number): Promise<RepositoryFiles> =>
  generateRepository({
    packages: makePackages(count),
    release: { Date: `Mon, 01 Jun 2026 0${count}:00:00 UTC` },
  });

/** Serves a repository of so many packages; what signs it was signed at midnight before the crawl, at noon. */
const serve = async (count: number, by: Signer | null, into: Into = 'InRelease', validSeconds?: number) => {
  const files = await generate(count);
  const options = validSeconds === undefined ? {} : { validSeconds };
  bench.origin.serve('repo', by ? await signRepository(files, by, [into], options) : files);
};

const pinned = (key: string) => makeEntry('repo', bench.origin.uri('repo'), { key });

describe.each(['InRelease', 'Release.gpg'] as const)('a signature in %s that has expired', (into) => {
  it('C5: is a state and a finding of its own, and the data is taken', async () => {
    await serve(3, signer, into, 6 * hour);
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({
      outcome: 'fresh',
      signing: { state: 'signature-expired', signers: [signer.fingerprint] },
      findings: [{ code: 'signature-expired', example: expect.stringContaining(signer.fingerprint) }],
    });
    const { example } = outcome.findings[0] ?? { example: '' };
    expect(operatorSentence('signature-expired', example)).toBe(
      `The signature of the Release has expired: /${into === 'InRelease' ? into : 'Release'} is signed by ${signer.fingerprint}.`,
    );
    expect(findingTexts['signature-expired'].owner).toMatch(/^Sign Release again/);
  });

  it('C5: is none until its moment, and one from then on, though nothing changed and nothing is asked for', async () => {
    await serve(3, signer, into, 18 * hour);
    expect(await bench.crawlOne()).toMatchObject({ findings: [], signing: { state: 'signed' } });
    bench.pass(20 * hour);
    expect(await bench.crawlOne()).toMatchObject({
      outcome: 'unchanged',
      requests: 1,
      findings: [{ code: 'signature-expired' }],
      signing: { state: 'signature-expired' },
    });
    await serve(4, signer, into);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [], signing: { state: 'signed' } });
  });

  it('C5: by the key of the manifest leaves the last good data in place', async () => {
    const entry = pinned(signer.publicKey);
    await serve(3, signer, into);
    expect(await bench.crawlOne({}, entry)).toMatchObject({ signing: { state: 'verified' } });
    const before = await bench.store.read('repo');
    await serve(4, signer, into, 6 * hour);
    const outcome = await bench.crawlOne({}, entry);
    expect(outcome).toMatchObject({ outcome: 'stale', code: 'signature-expired', signing: { state: 'verified' } });
    expect(outcome.reason).toMatch(/^The signature of the Release has expired: .+\.$/);
    expect(await bench.store.read('repo')).toEqual(before);
  });

  it('C5: since it was verified is refused at the next visit, though nothing changed', async () => {
    const entry = pinned(signer.publicKey);
    await serve(3, signer, into, 13 * hour);
    expect(await bench.crawlOne({}, entry)).toMatchObject({ signing: { state: 'verified' } });
    bench.pass(2 * hour);
    expect(await bench.crawlOne({}, entry)).toMatchObject({ outcome: 'stale', code: 'signature-expired' });
  });
});

it.each([
  ['its own', signer, 'signed'],
  ['another', other, 'key-changed'],
] as const)('C5: a key that was known by an identifier alone is told by its end: by %s', async (_, key, state) => {
  await serve(3, signer);
  await bench.crawlOne();
  const snapshot = await bench.store.read('repo');
  if (snapshot === undefined) throw new Error('nothing was stored');
  const remembered = [key.fingerprint.slice(-16)];
  await bench.store.write({ ...snapshot, signing: { ...snapshot.signing, remembered } }, []);
  await serve(4, signer);
  expect(await bench.crawlOne()).toMatchObject({ signing: { state } });
});

/** What brings about each state, by a crawl of what the origin serves; the compiler asks for one of each. */
const states: Record<SigningState, () => Promise<unknown>> = {
  unsigned: () => serve(3, null),
  signed: () => serve(3, signer),
  verified: async () => {
    await serve(3, signer);
    return pinned(signer.publicKey);
  },
  lost: async () => {
    await serve(3, signer);
    await bench.crawlOne();
    await serve(4, null);
  },
  unanswered: async () => {
    await serve(3, signer, 'Release.gpg');
    bench.origin.break('/repo/Release.gpg', { kind: 'status', status: 500 });
  },
  bad: async () => {
    await serve(3, signer, 'Release.gpg');
    bench.origin.put('/repo/Release.gpg', await signer.sign('something else'));
  },
  weak: async () => {
    const rsa = await createSigner({ rsa: true });
    const files = await generate(3);
    files.set('/Release.gpg', Buffer.from(await rsa.signWeakly(files.get('/Release') ?? '', 'sha1')));
    bench.origin.serve('repo', files);
  },
  binary: async () => {
    const files = await generate(3);
    bench.origin.serve('repo', files.set('/Release.gpg', await signer.signBinary(files.get('/Release') ?? '')));
  },
  'key-changed': async () => {
    await serve(3, signer);
    await bench.crawlOne();
    await serve(4, other);
  },
  // Without its key nobody can tell whether a key has expired or was revoked: then the crawl fails for it.
  'key-expired': async () => {
    const short = await createSigner({ validSeconds: 151 * day + hour });
    await serve(3, short);
    return pinned(short.publicKey);
  },
  'key-revoked': async () => {
    await serve(3, signer);
    return pinned(signer.revoked);
  },
  'signature-expired': () => serve(3, signer, 'InRelease', hour),
};

describe('C5: every state of signing', () => {
  it.each(signingStates)('C5: %s is reached by a crawl', async (state) => {
    const entry = await states[state]();
    const outcome = await bench.crawlOne({}, entry as ReturnType<typeof pinned> | undefined);
    if (state === 'key-expired' || state === 'key-revoked') {
      expect(outcome).toMatchObject({ outcome: 'failed', code: `signature-${state}` });
    } else {
      expect(outcome.signing?.state).toBe(state);
    }
  });
});

const midnight = new Date('2026-06-01T00:00:00Z');
const daysFrom = (date: Date, days: number) => new Date(date.getTime() + days * day * 1000);

/** Crawls what `by` signed with these keys in the manifest. */
const crawlPinned = async (by: Signer, key: string, into: Into) => {
  await serve(3, by, into);
  return bench.crawlOne({}, pinned(key));
};

describe.each(['InRelease', 'Release.gpg'] as const)('C5: a signature in %s as apt judges it', (into) => {
  it.each(['soft', 'hard'] as const)('C5: by a signing subkey is verified, and revoked with it (%s)', async (how) => {
    const withSubkey = await createSigner({ subkey: true });
    expect(await crawlPinned(withSubkey, withSubkey.publicKey, into)).toMatchObject({ signing: { state: 'verified' } });
    for (const days of [-10, 0.25]) {
      const revoked = await withSubkey.withRevokedSubkeys(how, daysFrom(midnight, days));
      expect(await bench.crawlOne({}, pinned(revoked))).toMatchObject({ code: 'signature-key-revoked' });
    }
  });

  it('C5: by a primary key stays good where a subkey that signed nothing was revoked', async () => {
    const withSubkey = await createSigner({ subkey: true });
    const revoked = await withSubkey.withRevokedSubkeys('hard', daysFrom(midnight, -1));
    // A signature that ends is by the primary key (support/signer.ts).
    const options = { validSeconds: 100 * day };
    bench.origin.serve('repo', await signRepository(await generate(3), withSubkey, [into], options));
    expect(await bench.crawlOne({}, pinned(revoked))).toMatchObject({ signing: { state: 'verified' } });
  });

  it('C5: by a key of which the manifest has a copy that has expired says to renew the copy, and then counts', async () => {
    const short = await createSigner({ validSeconds: 100 * day });
    const prolonged = await short.prolong(daysFrom(midnight, -60));
    const outcome = await crawlPinned(prolonged, short.publicKey, into);
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'signature-key-expired' });
    expect(outcome.reason).toContain('renew the copy in the manifest (`key`)');
    expect(await bench.crawlOne({}, pinned(prolonged.publicKey))).toMatchObject({ signing: { state: 'verified' } });
    for (const both of [short.publicKey + prolonged.publicKey, prolonged.publicKey + short.publicKey]) {
      expect(await bench.crawlOne({}, pinned(both))).toMatchObject({ signing: { state: 'verified' } });
    }
    const revokedToo = await bench.crawlOne({}, pinned(prolonged.publicKey + short.revoked));
    expect(revokedToo).toMatchObject({ code: 'signature-key-revoked' });
  });

  it('C5: from before its key was prolonged counts with the copy that was', async () => {
    const short = await createSigner({ validSeconds: 152 * day });
    const prolonged = await short.prolong(daysFrom(midnight, 0.25));
    expect(await crawlPinned(short, prolonged.publicKey, into)).toMatchObject({ signing: { state: 'verified' } });
  });

  it('C5: over other bytes is bad, also by a key that has expired', async () => {
    const short = await createSigner({ validSeconds: 151 * day + hour });
    const files = await signRepository(await generate(3), short, [into]);
    const path = into === 'InRelease' ? '/InRelease' : '/Release';
    const text = Buffer.from(files.get(path) ?? '').toString();
    bench.origin.serve('repo', files.set(path, Buffer.from(text.replace('Label: E', 'Label: X'))));
    expect(await bench.crawlOne({}, pinned(short.publicKey))).toMatchObject({ code: 'signature-bad' });
  });

  it.each([0, 1, 2])('C5: by the key in any of three armoured blocks counts (block %i)', async (at) => {
    const third = await createSigner();
    const blocks = [other.publicKey, third.publicKey];
    blocks.splice(at, 0, signer.publicKey);
    const outcome = await crawlPinned(signer, blocks.join('\n'), into);
    expect(outcome).toMatchObject({ outcome: 'fresh', signing: { state: 'verified', signers: [signer.fingerprint] } });
  });
});

describe('a Release.gpg without armour', () => {
  it('C5: is refused with its reason, pinned or not, and remembers nobody', async () => {
    const files = await generate(3);
    bench.origin.serve('repo', files.set('/Release.gpg', await signer.signBinary(files.get('/Release') ?? '')));
    expect(await bench.crawlOne()).toMatchObject({
      outcome: 'fresh',
      findings: [{ code: 'signature-binary' }],
      signing: { state: 'binary', signers: [signer.fingerprint], remembered: [] },
    });
    const outcome = await bench.crawlOne({}, pinned(signer.publicKey));
    expect(outcome).toMatchObject({ outcome: 'stale', code: 'signature-binary' });
    expect(outcome.reason).toMatch(/^Release\.gpg is a binary signature, and APT accepts only armoured ones: .+\.$/);
    await serve(4, signer, 'Release.gpg');
    expect(await bench.crawlOne({}, pinned(signer.publicKey))).toMatchObject({ signing: { state: 'verified' } });
    // Whose key it is by does not matter to who cannot read it.
    const next = await generate(5);
    bench.origin.serve('repo', next.set('/Release.gpg', await other.signBinary(next.get('/Release') ?? '')));
    expect(await bench.crawlOne()).toMatchObject({ signing: { state: 'binary', remembered: [signer.fingerprint] } });
  });
});

describe('what is said of a first visit', () => {
  it('C5: speaks of no visit before', async () => {
    await serve(3, signer);
    const { signing } = await bench.crawlOne();
    expect(signingTexts[signing?.state ?? 'unsigned']).not.toMatch(/before|no longer/);
    await rm(bench.directory, { recursive: true });
    const pinnedToOther = await bench.crawlOne({}, pinned(other.publicKey));
    expect(pinnedToOther).toMatchObject({ outcome: 'failed', code: 'signature-key-changed' });
    expect(pinnedToOther.reason).not.toMatch(/before/);
  });
});
