import { splitClearSigned } from '../apt/clearsigned.ts';
import { limitNote, limits } from '../contract/limits.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import type { Fetcher } from '../net/fetcher.ts';
import { HostQueue } from '../net/host-queue.ts';
import { NetworkError, type NetworkErrorCode } from '../net/network-error.ts';
import { collect, looksLikeHtml } from './content.ts';
import { sayStatus } from './crawl-error.ts';
import { releaseFolder } from './fetch-release.ts';
import { looksLikeSignature } from './openpgp-signature.ts';
import { judgeSignatureApart } from './release-work.ts';
import { type Place, Places } from './visit-places.ts';

/** The permanent new address of a repository, according to its origin. */
interface Move {
  /** In the form of a manifest entry. */
  readonly uri: string;
  /** Whether nobody on the way can have forged it: the same host stated it over TLS, or confirms it over TLS now. */
  readonly isSecure: boolean;
}

/** How a Release is signed, as far as a look at it shows. */
interface Signed {
  /** Fingerprints, or key identifiers if there are none. */
  readonly signers: readonly string[];
  /** What is wrong with the signature, as in `SignatureReport`. */
  readonly fault: string | null;
}

/** The result of asking the origin of an entry for its Release. */
export type EntryCheck = { readonly slug: string } & (
  | {
      readonly state: 'answers';
      /** Null if nothing is signed. */
      readonly signed: Signed | null;
      readonly move: Move | null;
    }
  /**
   * `gone`: the name or the Release does not exist. `unreachable`: it may be back tomorrow. `offline`: the fault is
   * ours.
   */
  | {
      readonly state: 'gone' | 'unreachable' | 'offline';
      readonly code: NetworkErrorCode | 'status' | 'html';
      readonly detail: string;
    }
);

/** What a check needs. */
interface CheckTools {
  readonly fetcher: Pick<Fetcher, 'fetch'>;
  readonly place: Place;
  readonly signal: AbortSignal;
  readonly now: Date;
}

interface Found {
  readonly bytes: Uint8Array;
  readonly asked: URL;
  readonly permanentUrl: URL;
}
interface Missing {
  readonly status: number;
  readonly isHtml: boolean;
  readonly url: URL;
}

const ask = async (
  entry: ManifestEntry,
  path: string,
  maxBytes: number,
  { fetcher, place, signal }: CheckTools,
): Promise<Found | Missing> => {
  const asked = new URL(new URL(entry.uri).href.replace(/\/*$/, '') + path);
  const wait = place.wait(signal);
  try {
    const result = await fetcher.fetch(asked, { maxBytes, headers: entry.headers, signal });
    wait.answered();
    const { status, permanentUrl } = result;
    if (status !== 200) return { status, isHtml: false, url: asked };
    const bytes = await collect(result.body);
    return looksLikeHtml(bytes) ? { status, isHtml: true, url: asked } : { bytes, asked, permanentUrl };
  } finally {
    await wait.end().catch(() => {});
  }
};

const isFound = (answer: Found | Missing): answer is Found => 'bytes' in answer;

/** The new address that permanent redirects name; null if they name none, or lead to something other than this file. */
const readMove = ({ uri }: ManifestEntry, path: string, { asked, permanentUrl }: Found): Move | null => {
  if (permanentUrl.href === asked.href) return null;
  const { href } = permanentUrl;
  if (permanentUrl.search !== '' || !href.endsWith(path)) return null;
  const from = new URL(uri);
  const isSecure =
    permanentUrl.protocol === 'https:' && (from.protocol === 'https:' || from.hostname === permanentUrl.hostname);
  return { uri: href.slice(0, -path.length), isSecure };
};

const judge = async (
  { key }: ManifestEntry,
  { bytes }: Found,
  detached: Uint8Array | null,
  { now, signal }: CheckTools,
): Promise<Signed | null> => {
  const question = { bytes, clear: detached === null, detached, key, now };
  const report = await judgeSignatureApart(question, signal);
  return report && { signers: report.signers, fault: report.fault };
};

const check = async (entry: ManifestEntry, tools: CheckTools): Promise<EntryCheck> => {
  const { slug } = entry;
  const folder = releaseFolder(entry.suite);
  const inRelease = await ask(entry, `${folder}/InRelease`, limits.releaseBytes, tools);
  if (isFound(inRelease) && splitClearSigned(inRelease.bytes).kind === 'signed') {
    const signed = await judge(entry, inRelease, null, tools);
    return { slug, state: 'answers', signed, move: readMove(entry, `${folder}/InRelease`, inRelease) };
  }
  const release = await ask(entry, `${folder}/Release`, limits.releaseBytes, tools);
  if (!isFound(release)) {
    const { status, isHtml, url } = release;
    const detail = isHtml ? `${url} is a web page` : sayStatus(status, url);
    const isGone = isHtml || status === 404 || status === 410;
    return { slug, state: isGone ? 'gone' : 'unreachable', code: isHtml ? 'html' : 'status', detail };
  }
  const gpg = await ask(entry, `${folder}/Release.gpg`, limits.signatureBytes * 2, tools);
  const signature = isFound(gpg) && looksLikeSignature(gpg.bytes) ? gpg.bytes : null;
  const signed = signature && (await judge(entry, release, signature, tools));
  return { slug, state: 'answers', signed, move: readMove(entry, `${folder}/Release`, release) };
};

/**
 * Asks the origin of an entry for its Release and its signature: at most three small files, each once. Throws only if
 * `signal` is aborted.
 */
const checkEntry = async (entry: ManifestEntry, tools: CheckTools): Promise<EntryCheck> => {
  try {
    return await check(entry, tools);
  } catch (error) {
    if (tools.signal.aborted) throw error;
    const { slug } = entry;
    if (!(error instanceof NetworkError)) {
      return {
        slug,
        state: 'unreachable',
        code: 'protocol',
        detail: error instanceof Error ? error.message : String(error),
      };
    }
    const { code, message: detail, transient } = error;
    if (code === 'no-network') return { slug, state: 'offline', code, detail };
    // If a name server answers that the name has no address, that is no glitch.
    const isGone = code === 'dns' && !transient;
    return { slug, state: isGone ? 'gone' : 'unreachable', code, detail };
  }
};

/** Options of a check of many entries. */
interface CheckOptions {
  readonly fetcher: Pick<Fetcher, 'fetch'>;
  readonly now: () => Date;
  /** How many repositories are asked at the same time, not counting those whose origin is silent. */
  readonly concurrency: number;
  readonly onCheck?: (checked: EntryCheck, done: number) => void;
}

/**
 * Checks all entries, several at the same time and at most two at any one host. Resolves to one result for each, in
 * their order.
 */
export const checkEntries = (entries: readonly ManifestEntry[], options: CheckOptions): Promise<EntryCheck[]> => {
  const hosts = new HostQueue(limits.connectionsPerHost);
  const places = new Places(options.concurrency, limits);
  let done = 0;
  return Promise.all(
    entries.map(async (entry): Promise<EntryCheck> => {
      const leaveHost = await hosts.acquire(new URL(entry.uri).host);
      const place = await places.enter(undefined);
      try {
        const signal = AbortSignal.timeout(limits.repositoryMs);
        const tools = { fetcher: options.fetcher, place, signal, now: options.now() };
        const checked = await checkEntry(entry, tools).catch(
          (): EntryCheck => ({
            slug: entry.slug,
            state: 'unreachable',
            code: 'too-slow',
            detail: limitNote('repositoryMs'),
          }),
        );
        options.onCheck?.(checked, ++done);
        return checked;
      } finally {
        place.leave();
        leaveHost();
      }
    }),
  );
};
