import { decompress } from '../apt/decompress.ts';
import { createRecordReader } from '../apt/record-reader.ts';
import { compareVersions } from '../apt/version.ts';
import { limitNote } from '../contract/limits.ts';
import { readDepiction } from '../depictions/read-depiction.ts';
import { NetworkError } from '../net/network-error.ts';
import { readRedirect } from '../net/redirects.ts';
import type { DepictionList, ListedDepiction } from '../snapshots/depiction-store.ts';
import { listIndexes, type Snapshot } from '../snapshots/snapshot.ts';
import { SnapshotError } from '../snapshots/store.ts';
import { isPaused } from './back-off.ts';
import { collect } from './content.ts';
import { CrawlError } from './crawl-error.ts';
import type { Visit } from './visit.ts';

// Native depictions are requested at the end of a visit, as part of it: within its time and number of retries, under
// the rules for connections and addresses of any other file, and only a few in each visit.

/** A visit stops after this many hosts that do not answer. */
const mostSilentHosts = 2;
const lineFeeds = Buffer.from('\n\n');
const sourceOf = (snapshot: Snapshot): string[] => listIndexes(snapshot).map(({ sha256 }) => sha256);

/** The addresses that the newest versions of packages name, each once, in the order of the index. */
const readWanted = async ({ store, limits }: Visit, snapshot: Snapshot): Promise<string[]> => {
  const newest = new Map<string, { version: string; urls: string[] }>();
  const reader = createRecordReader({
    record: ({ package: name, version, nativeDepiction }) => {
      const known = newest.get(name);
      const order = known === undefined ? 1 : compareVersions(version, known.version);
      const urls = nativeDepiction === null ? [] : [nativeDepiction];
      if (order > 0) newest.set(name, { version, urls });
      else if (order === 0) known?.urls.push(...urls);
    },
    finding: () => {},
  });
  for (const index of listIndexes(snapshot)) {
    const bytes = store.streamFile(snapshot.slug, index);
    const bounds = { maxBytes: limits.textBytes, maxRatio: Number.POSITIVE_INFINITY };
    for await (const chunk of decompress(bytes, index.compression, bounds)) reader.write(chunk);
    reader.write(lineFeeds);
  }
  reader.end();
  const wanted = new Set<string>();
  for (const { urls } of newest.values()) for (const url of urls) wanted.add(url);
  return [...wanted].slice(0, limits.depictionsPerRepository);
};

const unasked = (url: string): ListedDepiction => ({
  url,
  etag: null,
  lastModified: null,
  nextAt: null,
  kept: false,
  why: null,
});

/** The list for the index in force, with what is known about addresses that were on the last list. */
const listWanted = async (
  visit: Visit,
  snapshot: Snapshot,
  known: DepictionList | undefined,
): Promise<DepictionList> => {
  const source = sourceOf(snapshot);
  if (known !== undefined && JSON.stringify(known.source) === JSON.stringify(source)) return known;
  const before = new Map(known?.depictions.map((one) => [one.url, one]));
  const depictions: ListedDepiction[] = [];
  for (const url of await readWanted(visit, snapshot)) {
    // If the list is lost, the kept depictions still exist and continue to be shown.
    const isKept = known === undefined && (await visit.store.depictions.isSound(snapshot.slug, url));
    depictions.push(before.get(url) ?? { ...unasked(url), kept: isKept });
  }
  return { source, depictions };
};

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * The depictions that are due: first those that were never requested, then those that have waited for longest. Of those
 * that waited together, because one of them was not answered, that one comes last: it may never be.
 */
const listDue = ({ depictions }: DepictionList, { now, limits }: Visit): ListedDepiction[] => {
  const longestMs = Math.max(limits.depictionMs, limits.depictionRetryMs);
  return depictions
    .filter(({ nextAt }) => nextAt === null || !isPaused(nextAt, now(), longestMs))
    .sort((a, b) => compare(a.nextAt ?? '', b.nextAt ?? '') || Number(a.why !== null) - Number(b.why !== null));
};

/**
 * The address of a depiction, checked by the rules for redirects, because a package that names one leads us there as an
 * answer might.
 *
 * @throws NetworkError if no redirect may lead there
 */
const addressOf = ({ entry }: Visit, url: string): URL => {
  const base = new URL(entry.uri);
  return readRedirect(base, url, base.port);
};

const hostOf = (url: string): string => URL.parse(url)?.host ?? '';

type Learned = Pick<ListedDepiction, 'etag' | 'lastModified' | 'kept' | 'why'> & { readonly rest: 'usual' | 'short' };

/** Requests a depiction. Throws `CrawlError` if its host does not answer, or asks for a pause. */
const ask = async (visit: Visit, listed: ListedDepiction): Promise<Learned> => {
  const { url, etag, lastModified, kept } = listed;
  const { store, limits, entry } = visit;
  const nothing = { etag: null, lastModified: null, kept: false } as const;
  const before = { etag, lastModified, kept };
  let address: URL;
  try {
    address = addressOf(visit, url);
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
    return { ...nothing, why: error.code, rest: 'usual' };
  }
  const isSound = kept && (await store.depictions.isSound(entry.slug, url));
  const known = isSound ? { etag, lastModified } : undefined;
  const answer = await visit.getElsewhere(address, { maxBytes: limits.depictionBytes, known });
  if (answer.kind === 'unchanged') return { ...before, why: null, rest: 'usual' };
  if (answer.kind === 'unusable') {
    const { code } = answer.error;
    const note = code === 'too-large' ? `, ${limitNote('depictionBytes', limits.depictionBytes)}` : '';
    return { ...before, why: code + note, rest: 'short' };
  }
  if (answer.kind === 'absent') {
    const why = `status ${answer.status}`;
    return answer.status >= 500 ? { ...before, why, rest: 'short' } : { ...nothing, why, rest: 'usual' };
  }
  const { file } = answer;
  const depiction = readDepiction(await collect(file.read()));
  await visit.discard(file);
  if (depiction === undefined) return { ...nothing, why: 'no native depiction', rest: 'usual' };
  await store.depictions.write(entry.slug, url, depiction);
  return { etag: answer.etag, lastModified: answer.lastModified, kept: true, why: null, rest: 'usual' };
};

const after = (now: Date, milliseconds: number): string => new Date(now.getTime() + milliseconds).toISOString();

/** Requests what is due, within the limits of one visit. Returns what was learned, by address. */
const askDue = async (visit: Visit, due: readonly ListedDepiction[]): Promise<Map<string, ListedDepiction>> => {
  const { limits } = visit;
  const learned = new Map<string, ListedDepiction>();
  const silent = new Set<string>();
  let left = limits.depictionsPerVisit;
  for (const listed of due) {
    if (left === 0 || silent.size >= mostSilentHosts || visit.signal.aborted) break;
    const host = hostOf(listed.url);
    if (silent.has(host)) continue;
    left--;
    let failure: CrawlError | undefined;
    const result = await visit.askAside('depiction', async () => {
      try {
        return await ask(visit, listed);
      } catch (error) {
        if (error instanceof CrawlError) failure = error;
        throw error;
      }
    });
    // If the visit is over, that says nothing about the host. A host that asked for a pause is not asked either.
    if (visit.signal.aborted || (result === undefined && failure === undefined)) break;
    if (result === undefined) {
      silent.add(host);
      const nextAt = after(visit.now(), limits.depictionRetryMs);
      // The other depictions at that host wait, too. Otherwise every visit would try the next one at a host that is
      // gone.
      const isWaiting = ({ url }: ListedDepiction) => hostOf(url) === host && !learned.has(url);
      const waiting = failure?.code === 'origin-busy' ? [] : due.filter(isWaiting);
      for (const one of waiting) learned.set(one.url, { ...one, nextAt });
      learned.set(listed.url, { ...listed, nextAt, why: failure?.code ?? null });
      continue;
    }
    const { rest, ...rather } = result;
    const nextAt = after(visit.now(), rest === 'usual' ? limits.depictionMs : limits.depictionRetryMs);
    learned.set(listed.url, { url: listed.url, ...rather, nextAt });
  }
  return learned;
};

/**
 * Updates the native depictions of a repository, as far as one visit may: what the newest versions of its packages name
 * is requested once, and then conditionally once a week. Nothing here makes a visit fail. What does not arrive stays as
 * it was, and a finding says why.
 */
export const visitDepictions = async (visit: Visit, snapshot: Snapshot): Promise<void> => {
  const { entry, store } = visit;
  const before = visit.turnTo('depiction');
  try {
    const known = await store.depictions.readList(entry.slug);
    const list = await listWanted(visit, snapshot, known);
    const learned = await askDue(visit, listDue(list, visit));
    const depictions = list.depictions.map((one) => learned.get(one.url) ?? one);
    if (learned.size > 0 || list !== known) {
      if (known !== undefined || depictions.length > 0)
        await store.depictions.writeList(entry.slug, { ...list, depictions });
    }
    for (const { url, why } of depictions) {
      if (why !== null) visit.findings.add('depiction-unusable', `${url} (${why})`);
    }
  } catch (error) {
    // The next reading of the stored index will report this.
    if (!(error instanceof SnapshotError)) throw error;
  } finally {
    visit.turnTo(before);
  }
};
