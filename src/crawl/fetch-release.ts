import { parseDate, type ReleaseFile } from '../apt/release.ts';
import { limitNote } from '../contract/limits.ts';
import type { Snapshot, SnapshotFile, Topic } from '../snapshots/snapshot.ts';
import { collect } from './content.ts';
import { CrawlError, sayStatus } from './crawl-error.ts';
import { listAllIndexFiles } from './index-names.ts';
import { readReleaseApart } from './release-work.ts';
import type { Received, Visit } from './visit.ts';

/** The Release of a repository, from the network or from the last snapshot. */
export interface FoundRelease {
  readonly name: ReleaseName;
  readonly file: SnapshotFile;
  /** As downloaded. */
  readonly bytes: Uint8Array;
  /** Whether its own text contains the signature. */
  readonly signed: boolean;
  readonly content: ReleaseFile;
  /** Whether it is known to be complete. If not, what it says of the index, or its signature, must show that. */
  readonly whole: boolean;
  /** Whether it is one that an earlier version took, and that would be refused today. */
  readonly refused: boolean;
  /** If this is a Release in place of an InRelease that the origin has, or may have: why that one cannot be used. */
  readonly inReleaseFault: CrawlError | null;
}

type ReleaseName = 'InRelease' | 'Release';

/** The folder of a repository's Release, below its address: "" or "/dists/stable". */
export const releaseFolder = (suite: string): string => (suite === './' ? '' : `/dists/${suite}`);

const nameOfRelease = (file: SnapshotFile): ReleaseName => (file.path.endsWith('/InRelease') ? 'InRelease' : 'Release');

const check = async (visit: Visit, name: ReleaseName, received: Received): Promise<FoundRelease | CrawlError> => {
  const { path, file, etag, lastModified } = received;
  if (received.encoding !== null) return new CrawlError('release-unreadable', `${path} comes as ${received.encoding}`);
  const bytes = await collect(file.read());
  const read = await readReleaseApart({ bytes, wanted: listAllIndexFiles(visit.entry) }, visit.signal);
  if (read.kind === 'unusable') return new CrawlError(read.code, path + read.why);
  const { content, signed } = read;
  // If the length is not stated, the end of the signature shows that nothing is missing.
  const whole = received.framed || signed;
  const { sha256, size } = file;
  return {
    name,
    file: { path, sha256, size, etag, lastModified },
    bytes,
    signed,
    content,
    whole,
    refused: false,
    inReleaseFault: null,
  };
};

// At these apt stops, as its http method takes them for temporary; after any other error at InRelease it asks for Release.
const stopping: ReadonlySet<number> = new Set([500, 502, 503, 504, 599]);

/** An error of the server at which apt stops. */
class StoppingError extends CrawlError {}

const absence = (name: ReleaseName, path: string, status: number): CrawlError => {
  const words = sayStatus(status, path);
  if (stopping.has(status)) return new StoppingError('server-error', words);
  if (status >= 500) return new CrawlError('server-error', words);
  // Object stores answer this for a missing file. Whether the repository is closed shows with Release itself.
  if (status === 403 && name === 'InRelease') return new CrawlError('release-missing', words);
  return new CrawlError([401, 402, 403, 451].includes(status) ? 'release-forbidden' : 'release-missing', words);
};

/**
 * Whether the origin, for a moment perhaps, gave no answer for the InRelease of a Release, which may be signed. Other
 * failures are about the origin as a whole.
 */
export const isInReleaseUnanswered = ({ inReleaseFault }: FoundRelease): boolean =>
  inReleaseFault?.code === 'server-error' || inReleaseFault?.code === 'truncated';

const dayMs = 86_400_000;

/**
 * Whether a Release is dated by its server more than a day before the Date in it, and so cannot have been written then.
 * Some builds give all files one date, of which usual servers make the entity tag too, with the size. Then another
 * Release of the same size, as most are, counts as unchanged for ever.
 */
const isMisdated = ({ file, content }: FoundRelease): boolean => {
  const [modified, made] = [file.lastModified, content.date].map((text) => (text === null ? null : parseDate(text)));
  return modified != null && made != null && modified.getTime() + dayMs < made.getTime();
};

const ask = async (
  visit: Visit,
  name: ReleaseName,
  known: FoundRelease | undefined,
  due: boolean,
): Promise<FoundRelease | CrawlError> => {
  const path = `${releaseFolder(visit.entry.suite)}/${name}`;
  const isTelling = known !== undefined && !known.refused && !visit.anew && !(due && isMisdated(known));
  const maxBytes = visit.limits.releaseBytes;
  const answer = await visit.get(path, { maxBytes, known: isTelling ? known.file : undefined });
  if (answer.kind === 'unchanged' && known) return known;
  if (answer.kind === 'received') return check(visit, name, answer);
  if (answer.kind === 'unusable') {
    const { code, message } = answer.error;
    const note = code === 'too-large' ? ` (${limitNote('releaseBytes', visit.limits.releaseBytes)})` : '';
    return new CrawlError(code, message + note, { cause: answer.error });
  }
  return absence(name, path, answer.kind === 'absent' ? answer.status : 304);
};

/**
 * Fetches InRelease, else Release. With `known`, that file is requested first, conditionally, and `known` itself is
 * returned if it did not change. An origin without InRelease is asked for it again if its Release changed and
 * `askAgain` is set, or if its Release did not change and `due` or `missing` is. A `known` that would be refused today is
 * requested without a condition, and so, with `due`, is a misdated one, and each in a visit that asks `anew`. Throws
 * `CrawlError` if neither can be used.
 */
export const fetchRelease = async (
  visit: Visit,
  known: FoundRelease | undefined,
  { askAgain = false, due = false, missing = false } = {},
): Promise<FoundRelease> => {
  const errors: { topic: Topic; error: CrawlError }[] = [];
  const attempt = async (name: ReleaseName): Promise<FoundRelease | undefined> => {
    const topic = name === 'InRelease' ? 'inrelease' : 'release';
    const before = visit.turnTo(topic);
    const result = await ask(visit, name, known?.name === name ? known : undefined, due);
    visit.turnTo(before);
    if (!(result instanceof CrawlError)) return result;
    errors.push({ topic, error: result });
    return undefined;
  };
  visit.turnTo('release');

  let release: FoundRelease | undefined;
  if (known?.name === 'Release') {
    release = await attempt('Release');
    if (release?.file.sha256 === known.file.sha256) {
      if (due || missing) release = (await visit.askAside('inrelease', () => attempt('InRelease'))) ?? release;
    } else if (release === undefined || askAgain) release = (await attempt('InRelease')) ?? release;
  } else {
    release = (await attempt('InRelease')) ?? (await attempt('Release'));
  }
  const telling = errors.find(({ error }) => error.code !== 'release-missing');
  if (release === undefined) throw (telling ?? errors.at(-1))?.error;
  if (telling) {
    const before = visit.turnTo(telling.topic);
    const isStopping = telling.topic === 'inrelease' && telling.error instanceof StoppingError;
    visit.findings.add(isStopping ? 'inrelease-error' : telling.error.code, telling.error.detail);
    visit.turnTo(before);
  }
  return { ...release, inReleaseFault: release.name === 'Release' ? (telling?.error ?? null) : null };
};

/** The release of the last snapshot, read again. Throws `SnapshotError` if the store has lost it. */
export const readStoredRelease = async (visit: Visit, previous: Snapshot): Promise<FoundRelease> => {
  const file = previous.release;
  const bytes = await visit.store.readFile(previous.slug, file);
  const { suite, component, binary } = previous.origin;
  const place = { suite, component: component ?? undefined, binary: binary ?? undefined };
  const task = { bytes, wanted: listAllIndexFiles(place) };
  const strictly = await readReleaseApart(task, visit.signal);
  const refused = strictly.kind === 'unusable';
  const read = refused ? await readReleaseApart({ ...task, blankAfter: true }, visit.signal) : strictly;
  if (read.kind === 'unusable') throw new CrawlError(read.code, file.path + read.why);
  return {
    name: nameOfRelease(file),
    file,
    bytes,
    signed: read.signed,
    content: read.content,
    whole: true,
    refused,
    inReleaseFault: null,
  };
};
