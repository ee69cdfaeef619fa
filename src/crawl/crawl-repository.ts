import { hash } from 'node:crypto';
import { parseDate } from '../apt/release.ts';
import { compressions } from '../contract/compressions.ts';
import { addressKey, type ManifestEntry } from '../contract/manifest.ts';
import {
  type Baseline,
  type HeldBack,
  type Indexes,
  listIndexes,
  type Remembered,
  type Signing,
  type Snapshot,
  type SnapshotFile,
} from '../snapshots/snapshot.ts';
import { isPaused } from './back-off.ts';
import { CrawlError, saySecond, sayStanzas } from './crawl-error.ts';
import { fetchBesideRelease, fetchPayment, isSignatureMissing } from './extras.ts';
import {
  type FoundRelease,
  fetchRelease,
  isInReleaseUnanswered,
  readStoredRelease,
  releaseFolder,
} from './fetch-release.ts';
import { computeFirstSight } from './first-sight.ts';
import { isListedStrongly } from './index-candidates.ts';
import { indexFolder } from './index-names.ts';
import { countStanzas, fetchIndexes, recheckIndexes } from './indexes.ts';
import { countRecords } from './inspect.ts';
import { checkSigning } from './signing.ts';
import type { Visit } from './visit.ts';
import { contentFindings } from './visit-findings.ts';

const originOf = ({ uri, suite, component, binary }: ManifestEntry): Snapshot['origin'] => ({
  uri,
  suite,
  component: component ?? null,
  binary: binary ?? null,
});

/** Whether a snapshot, or what is remembered of one, has the address that the manifest names now. */
export const isPredecessor = ({ origin }: Pick<Snapshot, 'origin'>, entry: ManifestEntry): boolean =>
  addressKey(origin) === addressKey(entry);

const dateOf = ({ content }: FoundRelease): Date | null => (content.date === null ? null : parseDate(content.date));

/** What to compare with: what the operator accepted, else the last snapshot, else what is remembered of it. */
const computeBaseline = (
  previous: Snapshot | undefined,
  known: FoundRelease | undefined,
  accepted: Baseline | null,
  remembered: Remembered | null,
): Baseline => ({
  stanzas: accepted?.stanzas ?? (previous && countStanzas(previous)) ?? remembered?.stanzas ?? null,
  date: accepted?.date ?? (known ? (dateOf(known)?.toISOString() ?? null) : (remembered?.date ?? null)),
});

const computeRemembered = (snapshot: Snapshot, release: FoundRelease): Remembered => ({
  origin: snapshot.origin,
  stanzas: countStanzas(snapshot),
  date: dateOf(release)?.toISOString() ?? null,
  signers: snapshot.signing.remembered,
  content: {
    release: release.file.sha256,
    packages: snapshot.packages.sha256,
    changedAt: snapshot.changedAt,
  },
});

/**
 * When the content was made, as far as known: now if it differs from the known content, because then the change was
 * just seen; the remembered time if a lost snapshot was restored; at first sight, what the origin says.
 */
const computeChangedAt = (
  release: FoundRelease,
  index: Snapshot['packages'],
  previous: Snapshot | undefined,
  remembered: Remembered | null,
  now: Date,
): string => {
  const known = remembered?.content ?? null;
  if (previous !== undefined) return now.toISOString();
  if (known === null) return computeFirstSight(release, index, now).toISOString();
  const isKnown = known.release === release.file.sha256 && known.packages === index.sha256;
  return isKnown ? known.changedAt : now.toISOString();
};

/** A file and its validators, without the other fields of an index. */
const fileOf = ({ path, sha256, size, etag, lastModified }: SnapshotFile): SnapshotFile => ({
  ...{ path, sha256, size, etag, lastModified },
});

/** A reason not to take what was found without the operator's decision. */
interface Objection {
  readonly code: 'release-older' | 'index-shrunken';
  readonly detail: string;
  readonly held: Pick<HeldBack, 'stanzas' | 'date' | 'packages' | 'listed'>;
}

/**
 * Objects to a release that is older than the last one accepted: somebody serves an old state of the repository, or an
 * old mirror answers. A date in the future does not count, or a single wrong clock would lock the repository for good.
 */
const findOlder = (release: FoundRelease, { date: before }: Baseline, now: Date): Objection | undefined => {
  const date = dateOf(release)?.toISOString();
  if (before === null || date === undefined || before > now.toISOString() || date >= before) return undefined;
  const detail = `${release.file.path} is of ${saySecond(date)}, and the last one was of ${saySecond(before)}`;
  return { code: 'release-older', detail, held: { stanzas: null, date, packages: null, listed: true } };
};

/** Fails if the hashes in Release vouch for the index in no compression: then no signature reaches it. */
const assertSignedForAny = ({ entry }: Visit, { content }: FoundRelease): void => {
  if (compressions.some((compression) => isListedStrongly(entry, content, compression))) return;
  throw new CrawlError('index-unverified', `${releaseFolder(entry.suite)}/${indexFolder(entry)}Packages`);
};

/** Fails if the entry names a key and the signature, through the hashes in Release, does not vouch for the index. */
const assertSignedFor = ({ entry }: Visit, release: FoundRelease, { packages, packagesOfAll }: Indexes): void => {
  if (entry.key === undefined) return;
  for (const [index, binary] of [[packages, entry.binary] as const, [packagesOfAll, 'all'] as const]) {
    if (index === null) continue;
    if (index.listed && isListedStrongly({ ...entry, binary }, release.content, index.compression)) continue;
    throw new CrawlError('index-unverified', index.path);
  }
};

const lineFeed = 0x0a;

/**
 * Fails for a Release that may have been cut short: one without a stated length, unless it ends with a line and a hash
 * in it confirms the index, or a signature covers exactly these bytes.
 */
const assertWhole = (release: FoundRelease, indexes: Indexes, { state }: Signing): void => {
  if (release.whole || state === 'verified' || state === 'signed') return;
  if (listIndexes(indexes).every(({ listed }) => listed) && release.bytes.at(-1) === lineFeed) return;
  throw new CrawlError('release-length-unknown', release.file.path);
};

const hashesOf = (indexes: Indexes): string =>
  listIndexes(indexes)
    .map(({ sha256 }) => sha256)
    .join();

/** Objects if more than half of the records are gone, because that is more often an accident than intended. */
const findShrunken = (indexes: Indexes, { stanzas: before }: Baseline): Objection | undefined => {
  const stanzas = countStanzas(indexes);
  const path = listIndexes(indexes)
    .map((index) => index.path)
    .join(' and ');
  const listed = listIndexes(indexes).every((index) => index.listed);
  if (before === null || stanzas * 2 >= before) return undefined;
  const detail = `${path} had ${sayStanzas(before)}, and now ${indexes.packagesOfAll ? 'have' : 'has'} ${stanzas}`;
  return { code: 'index-shrunken', detail, held: { stanzas, date: null, packages: fileOf(indexes.packages), listed } };
};

/**
 * The baseline with the last index counted again as today's is, because another version may have counted differently.
 */
const recount = async (visit: Visit, previous: Snapshot | undefined, baseline: Baseline): Promise<Baseline> => {
  if (previous === undefined || baseline.stanzas !== countStanzas(previous)) return baseline;
  const limits = { maxBytes: visit.limits.textBytes, maxRatio: Number.POSITIVE_INFINITY };
  let stanzas = 0;
  for (const index of listIndexes(previous)) {
    stanzas += await countRecords(
      visit.store.streamFile(previous.slug, index),
      index.compression,
      limits,
      visit.signal,
    );
  }
  return { ...baseline, stanzas };
};

/**
 * Fails with all objections together, so that one decision of the operator covers all of them. The first objection
 * names the failure; an objection to a release holds for any index.
 */
const assertNoObjection = (release: FoundRelease, objections: readonly (Objection | undefined)[]): void => {
  const found = objections.filter((objection) => objection !== undefined);
  const [first] = found;
  if (first === undefined) return;
  const refused: HeldBack = {
    ...first.held,
    stanzas: found.find(({ held }) => held.stanzas !== null)?.held.stanzas ?? null,
    code: first.code,
    detail: found.map(({ detail }) => detail).join('; '),
    release: release.file,
  };
  throw new CrawlError(first.code, refused.detail, { refused });
};

/**
 * Fetches the indexes of a release to which there is an objection already. They may also be objectionable, and so the
 * operator is asked only once.
 */
const fetchObjected = async (
  visit: Visit,
  release: FoundRelease,
  previous: Snapshot | undefined,
): Promise<Indexes | undefined> => {
  try {
    return await fetchIndexes(visit, release, previous);
  } catch (error) {
    // A requested pause, and the end of the visit, are reported as such. No other fault outweighs the objection.
    if (!(error instanceof CrawlError) || error.code === 'origin-busy' || error.code === 'aborted') throw error;
    return undefined;
  }
};

/**
 * Fetches the index of `release`. If it does not match Release, the origin may be changing both at this moment. Then
 * Release is requested once more and, if it has changed, so is the index.
 */
const fetchMatching = async (
  visit: Visit,
  release: FoundRelease,
  previous: Snapshot | undefined,
): Promise<{ release: FoundRelease; indexes: Indexes }> => {
  try {
    return { release, indexes: await fetchIndexes(visit, release, previous) };
  } catch (error) {
    if (!(error instanceof CrawlError) || error.code !== 'index-mismatch') throw error;
    const again = await fetchRelease(visit, release, { askAgain: isInReleaseUnanswered(release) });
    if (again.file.sha256 === release.file.sha256) throw error;
    return { release: again, indexes: await fetchIndexes(visit, again, previous) };
  }
};

// Signatures expire, and keys expire or are removed from the manifest, without any change at the origin.
const isSigningDue = ({ entry }: Visit, { signing }: Snapshot): boolean =>
  entry.key !== undefined || signing.state !== 'unsigned';

/** Checks what an unchanged release does not vouch for: its signature, and the payment endpoint. */
const refreshExtras = async (visit: Visit, release: FoundRelease, same: Snapshot, due: boolean): Promise<Snapshot> => {
  const { signature, ...beside } = await fetchBesideRelease(visit, release, same, due);
  const payment = await fetchPayment(visit, same, due);
  const signing = await checkSigning(visit, release, signature, same.signing.remembered);
  const extrasCheckedAt = due ? visit.now().toISOString() : same.extrasCheckedAt;
  return { ...same, ...beside, ...payment, signature: signature?.file ?? null, signing, extrasCheckedAt };
};

/**
 * Whether to ask for what an unchanged Release does not vouch for, because the last time is long ago or a pause is
 * over. A time in the future was recorded under another clock.
 */
const areExtrasDue = ({ limits, pauses }: Visit, { extrasCheckedAt }: Snapshot, now: Date): boolean => {
  const passed = now.getTime() - Date.parse(extrasCheckedAt);
  return (
    passed < 0 ||
    passed >= limits.extrasMs ||
    Object.values(pauses).some((until) => !isPaused(until, now, limits.holdMs))
  );
};

const weekMs = 7 * 86_400_000;

/** Whether a week has begun since the extras were last checked. The weeks of origins begin at different times. */
const isNewWeek = ({ entry }: Visit, { extrasCheckedAt }: Snapshot, now: Date): boolean => {
  const beginsLater = (hash('sha256', entry.slug, 'buffer').readUInt32BE() / 2 ** 32) * weekMs;
  const weekOf = (moment: number) => Math.floor((moment - beginsLater) / weekMs);
  return weekOf(now.getTime()) !== weekOf(Date.parse(extrasCheckedAt));
};

/**
 * How a new release is signed, which is decided before its index is asked for: what a key of the manifest has not signed
 * would cost its origin the index at each visit. An InRelease needs no other file for that, and none is asked for yet,
 * because an origin may answer that it wants a pause. Throws `CrawlError` if the key has not signed it, or if Release
 * vouches for no index.
 */
const checkSigningFirst = async (
  visit: Visit,
  release: FoundRelease,
  previous: Snapshot | undefined,
  { due, signers }: { readonly due: boolean; readonly signers: readonly string[] },
) => {
  const beside = release.name === 'Release' ? await fetchBesideRelease(visit, release, previous, due) : undefined;
  const signing = await checkSigning(visit, release, beside === undefined ? null : beside.signature, signers);
  assertSignedForAny(visit, release);
  return { of: release, beside, signing };
};

/** Whether the last visit that asked for the index did not get it. Its origin may have been broken for a moment only. */
const isIndexMissed = ({ known }: Visit): boolean =>
  known.index?.some(({ code }) => code === 'index-gone' || code === 'extras-unanswered') === true;

/** The result of a visit: the snapshot in force, and its parsed release. */
export interface Visited {
  readonly snapshot: Snapshot;
  readonly release: FoundRelease;
  /** Whether the bytes of release or index changed. */
  readonly changed: boolean;
  readonly remembered: Remembered;
}

/**
 * Visits one repository and stores what it found as the new snapshot, if it differs from `previous` (the snapshot of
 * the same address, if there is one). `accepted` is what the operator wants compared instead of `previous`, and
 * `remembered` what is known of a lost snapshot. Throws `CrawlError` if the origin has nothing better than `previous`,
 * which then stays, and `SnapshotError` if the store has lost a file of `previous`.
 */
export const crawlRepository = async (
  visit: Visit,
  previous: Snapshot | undefined,
  { accepted, remembered }: { accepted: Baseline | null; remembered: Remembered | null },
): Promise<Visited> => {
  const now = visit.now();
  const due = previous === undefined || areExtrasDue(visit, previous, now);
  visit.anew = previous !== undefined && due && isNewWeek(visit, previous, now);
  const known = previous && (await readStoredRelease(visit, previous));
  const before = remembered && isPredecessor(remembered, visit.entry) ? remembered : null;
  const signers = previous?.signing.remembered ?? before?.signers ?? [];
  const baseline = computeBaseline(previous, known, accepted, before);
  // A release whose signature is not there may be available as a signed InRelease again.
  const missing = isSignatureMissing(previous);
  const first = await fetchRelease(visit, known, { askAgain: due || missing, due, missing });
  const older = findOlder(first, baseline, now);
  if (older) {
    const indexes = baseline.stanzas === null ? undefined : await fetchObjected(visit, first, previous);
    assertNoObjection(first, [older, indexes && findShrunken(indexes, baseline)]);
  }
  const isNew = first.file.sha256 !== previous?.release.sha256;
  const judged =
    isNew && visit.entry.key !== undefined
      ? await checkSigningFirst(visit, first, previous, { due, signers })
      : undefined;
  const { release, indexes } = await fetchMatching(visit, first, previous);
  assertSignedFor(visit, release, indexes);
  const shrunken = findShrunken(indexes, baseline) && findShrunken(indexes, await recount(visit, previous, baseline));
  assertNoObjection(release, [findOlder(release, baseline, now), shrunken]);
  const { content } = visit.found;
  const findings = content ? [...content] : previous ? contentFindings(previous) : [];
  const found = { release: release.file, ...indexes, findings };
  const isSame = release.file.sha256 === previous?.release.sha256 && hashesOf(indexes) === hashesOf(previous);
  if (previous && isSame) {
    const same = { ...previous, ...found };
    const snapshot = due || isSigningDue(visit, previous) ? await refreshExtras(visit, release, same, due) : same;
    if (due || isIndexMissed(visit)) await recheckIndexes(visit, release, snapshot);
    // If nothing else changed either, the time of the check is stored with the attempts, and the snapshot is not
    // written.
    if (JSON.stringify(snapshot) !== JSON.stringify(previous)) await visit.store.write(snapshot, visit.staged);
    return { snapshot, release, changed: false, remembered: computeRemembered(snapshot, release) };
  }
  const early = judged?.of === release ? judged : undefined;
  const { signature, ...beside } = early?.beside ?? (await fetchBesideRelease(visit, release, previous, due));
  const signing = early?.signing ?? (await checkSigning(visit, release, signature, signers));
  assertWhole(release, indexes, signing);
  const payment = await fetchPayment(visit, previous, due);
  const snapshot: Snapshot = {
    slug: visit.entry.slug,
    origin: originOf(visit.entry),
    ...found,
    ...beside,
    ...payment,
    signature: signature?.file ?? null,
    signing,
    hasInRelease: release.name === 'InRelease',
    extrasCheckedAt: due ? now.toISOString() : previous.extrasCheckedAt,
    changedAt: computeChangedAt(release, indexes.packages, previous, before, now),
    checkedAt: now.toISOString(),
  };
  await visit.store.write(snapshot, visit.staged);
  return { snapshot, release, changed: true, remembered: computeRemembered(snapshot, release) };
};
