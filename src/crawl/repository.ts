import { checkValidity, type ReleaseFile } from '../apt/release.ts';
import { type Finding, FindingCounter } from '../contract/findings.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import { CrawlError } from './crawl-error.ts';
import { fetchExtras } from './extras.ts';
import { type FoundIndex, fetchIndex } from './index-file.ts';
import { type FoundRelease, fetchRelease, readStoredRelease } from './release.ts';
import type { Visit } from './visit.ts';

const originOf = ({ uri, suite, component, binary }: ManifestEntry): Snapshot['origin'] => ({
  uri,
  suite,
  component: component ?? null,
  binary: binary ?? null,
});

/** Whether a snapshot is of the address that the manifest names now. */
export const isPredecessor = (snapshot: Snapshot, entry: ManifestEntry): boolean =>
  JSON.stringify(snapshot.origin) === JSON.stringify(originOf(entry));

// These depend on the day and are found anew at every visit, also where nothing was downloaded.
const validityCodes: ReadonlySet<string> = new Set(['release-expired', 'release-in-future', 'release-date-unreadable']);

const withValidity = (findings: readonly Finding[], release: ReleaseFile, now: Date): Finding[] => {
  const counter = new FindingCounter();
  counter.addAll(findings.filter(({ code }) => !validityCodes.has(code)));
  for (const { code, detail } of checkValidity(release, now)) counter.add(code, detail);
  return counter.list();
};

/** Fails where more than half of the stanzas are gone: that is more often an accident than a wish. */
const assertNotShrunken = (index: FoundIndex, previous: Snapshot | undefined): void => {
  const before = previous?.packages.stanzas ?? 0;
  if (index.stanzas * 2 >= before) return;
  throw new CrawlError('index-shrunken', `${index.path} has ${index.stanzas} packages, and had ${before}`);
};

/**
 * The index of `release`. Where it is not the one that Release describes, the origin may just be changing both: then
 * Release is asked for once more, and if it did change, so is the index.
 */
const fetchMatching = async (
  visit: Visit,
  release: FoundRelease,
  previous: Snapshot | undefined,
): Promise<{ release: FoundRelease; index: FoundIndex }> => {
  try {
    return { release, index: await fetchIndex(visit, release, previous) };
  } catch (error) {
    if (!(error instanceof CrawlError) || error.code !== 'index-mismatch') throw error;
    const again = await fetchRelease(visit, release, false);
    if (again.file.sha256 === release.file.sha256) throw error;
    return { release: again, index: await fetchIndex(visit, again, previous) };
  }
};

/**
 * Visits one repository and keeps what it found as the new snapshot, where it differs from `previous` (the snapshot of
 * the same address, if there is one). Returns the snapshot in force and whether the bytes of release or index changed.
 * Throws `CrawlError` where the origin gives nothing better than `previous`, which then stays, and `SnapshotError`
 * where the store has lost what `previous` names.
 */
export const crawlRepository = async (
  visit: Visit,
  previous: Snapshot | undefined,
): Promise<{ snapshot: Snapshot; changed: boolean }> => {
  const now = visit.now();
  const due = previous === undefined || now.getTime() - Date.parse(previous.extrasCheckedAt) >= visit.limits.extrasMs;
  const known = previous && (await readStoredRelease(visit, previous));
  const { release, index } = await fetchMatching(visit, await fetchRelease(visit, known, due), previous);
  assertNotShrunken(index, previous);
  const found = { release: release.file, packages: index };
  const isSame = release.file.sha256 === previous?.release.sha256 && index.sha256 === previous.packages.sha256;
  if (previous && isSame) {
    const findings = withValidity(previous.findings, release.content, now);
    const snapshot = { ...previous, ...found, findings };
    // Where nothing else changed either, the time of the check is kept with the attempts and nothing is written.
    if (JSON.stringify(snapshot) !== JSON.stringify(previous)) await visit.store.write(snapshot, visit.staged);
    return { snapshot, changed: false };
  }
  const extras = await fetchExtras(visit, release, previous, due);
  for (const { code, detail } of release.content.findings) visit.findings.add(code, detail);
  const snapshot: Snapshot = {
    slug: visit.entry.slug,
    origin: originOf(visit.entry),
    ...found,
    ...extras,
    hasInRelease: release.name === 'InRelease',
    extrasCheckedAt: due ? now.toISOString() : previous.extrasCheckedAt,
    changedAt: now.toISOString(),
    checkedAt: now.toISOString(),
    findings: withValidity(visit.findings.list(), release.content, now),
  };
  await visit.store.write(snapshot, visit.staged);
  return { snapshot, changed: true };
};
