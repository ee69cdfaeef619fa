import { algorithmsFor, checkDigests, createDigests } from '../apt/checksums.ts';
import type { Compression } from '../contract/compressions.ts';
import { limitNote } from '../contract/limits.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import { type CrawlCode, CrawlError, sayStatus } from './crawl-error.ts';
import type { FoundRelease } from './fetch-release.ts';
import { type Candidate, listCandidates } from './index-candidates.ts';
import type { IndexPlace } from './index-names.ts';
import { inspectIndex } from './inspect.ts';
import type { Answer, Visit } from './visit.ts';

/** The Packages index of a repository, as stored in a snapshot. */
export type FoundIndex = Snapshot['packages'];

/** An index of the last snapshot, with the release that it came with. */
export type KnownIndex = Pick<Snapshot, 'slug' | 'release' | 'packages'>;

const absenceCode = (status: number): CrawlCode => {
  if (status >= 500) return 'server-error';
  return [401, 402, 403, 451].includes(status) ? 'index-forbidden' : 'index-missing';
};

const toError = (
  candidate: Candidate,
  answer: Exclude<Answer, { kind: 'received' }>,
  indexBytes: number,
): CrawlError => {
  const { path, listed } = candidate;
  if (answer.kind === 'unchanged') return new CrawlError('index-mismatch', `${path} is unchanged, and Release is not`);
  if (answer.kind === 'absent') return new CrawlError(absenceCode(answer.status), sayStatus(answer.status, path));
  const { code, message } = answer.error;
  const options = { cause: answer.error };
  if (code === 'truncated') return new CrawlError('index-truncated', message, options);
  if (code !== 'too-large') return new CrawlError(code, message, options);
  return listed
    ? new CrawlError('index-mismatch', `${path} is longer than the ${listed.size} bytes that Release says`, options)
    : new CrawlError('index-too-large', `${message} (${limitNote('indexBytes', indexBytes)})`, options);
};

/**
 * The index of the last snapshot, if Release still confirms it, so that it need not be requested. Throws
 * `SnapshotError` if the store has lost it.
 */
const reuse = async (
  visit: Visit,
  release: FoundRelease,
  candidates: readonly Candidate[],
  previous: KnownIndex,
): Promise<FoundIndex | undefined> => {
  const { packages } = previous;
  const isSameRelease = packages.listed && release.file.sha256 === previous.release.sha256;
  const listed = candidates.find((candidate) => candidate.compression === packages.compression)?.listed;
  if (!isSameRelease && listed?.size !== packages.size) return undefined;
  if (isSameRelease || listed === undefined) {
    await visit.store.checkFile(previous.slug, packages);
    return packages;
  }
  const digests = createDigests(algorithmsFor(listed));
  for await (const chunk of visit.store.streamFile(previous.slug, packages)) digests.update(chunk);
  return checkDigests(listed, digests.result()).mismatch ? undefined : { ...packages, listed: true };
};

const tryCandidate = async (
  visit: Visit,
  candidate: Candidate,
  previous: KnownIndex | undefined,
  isSameRelease = false,
): Promise<FoundIndex | CrawlError> => {
  const { path, compression, listed, listedText } = candidate;
  const { indexBytes, textBytes, ratio } = visit.limits;
  const isTelling = isSameRelease || (!visit.anew && (listed !== undefined || listedText === undefined));
  const isKnown = previous?.packages.path === path && isTelling;
  const asked = {
    maxBytes: listed ? Math.min(indexBytes, listed.size) : indexBytes,
    digests: listed ? algorithmsFor(listed) : [],
  };
  let answer = await visit.get(path, { ...asked, known: isKnown ? previous.packages : undefined });
  // Usual servers make an entity tag of date and size, and some builds give all files one date. Then another index of
  // the same size counts as unchanged for ever.
  if (answer.kind === 'unchanged' && !isSameRelease && listed?.size === previous?.packages.size)
    answer = await visit.get(path, asked);
  if (answer.kind === 'unchanged' && previous && (isSameRelease || !listed)) {
    if (isSameRelease) return previous.packages;
    await visit.store.checkFile(previous.slug, previous.packages);
    return { ...previous.packages, listed: false };
  }
  if (answer.kind !== 'received') return toError(candidate, answer, indexBytes);
  const before = visit.turnTo('content');
  try {
    const inspected = await inspectIndex(candidate, answer, { maxBytes: textBytes, maxRatio: ratio }, visit.signal);
    if (inspected.variant !== null) visit.findings.add('index-variants-differ', `${path}: ${inspected.variant}`);
    if (inspected.severalStreams) visit.findings.add('index-several-streams', path);
    const { file, etag, lastModified } = answer;
    return {
      path,
      sha256: file.sha256,
      size: file.size,
      etag,
      lastModified,
      compression,
      decompressedSize: inspected.decompressedSize,
      stanzas: inspected.records,
      listed: inspected.confirmed,
    };
  } catch (error) {
    if (!(error instanceof CrawlError)) throw error;
    await visit.discard(answer.file);
    return error;
  } finally {
    visit.turnTo(before);
  }
};

/**
 * One error for all candidates. A mismatch with Release comes first, because it may resolve itself; then what is
 * broken.
 */
const summarise = (errors: readonly CrawlError[]): CrawlError => {
  const telling = errors.filter(({ code }) => code !== 'index-missing');
  const first = telling.find(({ code }) => code === 'index-mismatch') ?? telling[0];
  const details = (first ? telling : errors).map(({ detail }) => detail).join('; ');
  return new CrawlError(first?.code ?? 'index-missing', details, { cause: first });
};

/** Why a candidate is not the index, and whether Release lists it. */
interface CandidateError {
  readonly error: CrawlError;
  readonly isListed: boolean;
}

/** Another candidate was usable. A missing one is only worth a finding if Release lists it. */
const noteErrors = (visit: Visit, errors: readonly CandidateError[]): void => {
  for (const { error, isListed } of errors) {
    const isAbsence = error.code === 'index-missing' || error.code === 'index-forbidden';
    if (!isAbsence || isListed) visit.findings.add(error.code, error.detail);
  }
};

/**
 * Fetches the Packages index of `place` that belongs to `release`: that of the last snapshot if it still matches, else
 * the first candidate that arrives completely and that Release, if it lists hashes, confirms. With `only`, in that
 * compression. Throws `CrawlError` if there is none; `index-mismatch` if at least one arrived that does not match
 * Release.
 */
export const fetchIndex = async (
  visit: Visit,
  place: IndexPlace,
  release: FoundRelease,
  previous: KnownIndex | undefined,
  only?: Compression,
): Promise<FoundIndex> => {
  const candidates = listCandidates(place, release.content, previous?.packages.path).filter(
    ({ compression }) => only === undefined || compression === only,
  );
  const kept = previous && (await reuse(visit, release, candidates, previous));
  if (kept) return kept;
  // If Release lists no files, the last file is requested first. That says nothing about better ones.
  const [first] = candidates;
  const isTurned = only === undefined && (first?.listed || first?.path !== previous?.packages.path);
  if (isTurned) visit.turnTo('index');
  const errors: CandidateError[] = [];
  for (const candidate of candidates) {
    const result = await tryCandidate(visit, candidate, previous);
    if (!(result instanceof CrawlError)) {
      noteErrors(visit, errors);
      return result;
    }
    if (only === undefined) visit.turnTo('index');
    errors.push({ error: result, isListed: candidate.listed !== undefined });
  }
  throw summarise(errors.map(({ error }) => error));
};

/**
 * Checks whether the origin still serves the index of `previous`, which is that of `place`, although an unchanged
 * Release makes downloading it unnecessary; and, if something was wrong with better files, whether that still holds.
 * Problems are findings: the index in force stays. An index that Release does not confirm has already been requested in
 * this visit.
 */
export const recheckIndex = async (
  visit: Visit,
  place: IndexPlace,
  release: FoundRelease,
  previous: KnownIndex,
): Promise<void> => {
  const { path, listed } = previous.packages;
  const doubted = (visit.known.index ?? []).length > 0;
  if (!listed && !doubted) return;
  await visit.askAside('index', async () => {
    const all = listCandidates(place, release.content);
    const candidates = doubted ? all : listCandidates(place, release.content, path);
    if (!doubted) candidates.sort((a, b) => Number(b.path === path) - Number(a.path === path));
    const errors: CandidateError[] = [];
    for (const candidate of candidates) {
      if (candidate.path === path && !listed) return noteErrors(visit, errors);
      const result = await tryCandidate(visit, candidate, previous, true);
      if (!(result instanceof CrawlError)) return noteErrors(visit, errors);
      errors.push({ error: result, isListed: candidate.listed !== undefined });
    }
    // The code of one file would say that another was used instead.
    visit.findings.add('index-gone', summarise(errors.map(({ error }) => error)).detail);
  });
};
