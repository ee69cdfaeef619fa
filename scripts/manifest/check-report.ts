import type { RepositoryOutcome } from '../../src/catalog/last-build.ts';
import { type ManifestEntry, repositoryKey } from '../../src/contract/manifest.ts';
import { readRedirectTargets } from '../../src/contract/redirected.ts';
import type { EntryCheck } from '../../src/crawl/check-entry.ts';
import { findUnsafe } from '../../src/safety/find-unsafe.ts';
import { createSafetyList, type ExplainedSafetyList, type SafetyPlace } from '../../src/safety/safety-list.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';

type Answering = EntryCheck & { state: 'answers' };

/** What to report about one entry. */
export interface Told {
  readonly slug: string;
  readonly what: 'moved' | 'gone' | 'unreachable' | 'signature';
  readonly text: string;
  /** What to write, and where; null if there is nothing to write yet. */
  readonly todo: string | null;
}

const unsigned: readonly string[] = ['unsigned', 'lost'];

const faultWords: Readonly<Record<string, string>> = {
  bad: 'the signature does not fit what it stands with',
  weak: 'the signature uses methods that prove nothing any more',
  binary: 'the signature is not armoured, and APT takes no other',
  'signature-expired': 'the signature has expired',
  'key-expired': 'the key that the entry names has expired',
  'key-revoked': 'the key that the entry names was revoked',
  'other-key': 'it is signed by another key than the entry names',
};

const tellSignature = (
  { slug, key }: ManifestEntry,
  checked: Answering,
  before: RepositoryOutcome | undefined,
): Told | undefined => {
  const { signed } = checked;
  const tell = (text: string, todo: string | null): Told => ({ slug, what: 'signature', text, todo });
  const signers = signed?.signers.join(', ') || 'nobody';
  const was = before?.signing?.state;
  if (signed === null) {
    if (key !== undefined) {
      const todo = 'a build keeps what it has; where its owner means it, take key: out of the entry';
      return tell('is not signed, and its entry names a key', todo);
    }
    if (was === undefined || unsigned.includes(was) || was === 'unanswered') return undefined;
    return tell('is not signed any more', null);
  }
  if (signed.fault !== null) {
    const words = `${faultWords[signed.fault] ?? signed.fault} (${signers})`;
    return tell(words, key === undefined ? null : 'ask its owner, and write the new key into key: of the entry');
  }
  if (was === undefined || !unsigned.includes(was) || key !== undefined) return undefined;
  return tell(`is signed now, by ${signers}`, 'write the public key into key: of the entry, to have it verified');
};

interface Naming {
  /** What an entry is to be called where something is to be written into it. */
  readonly nameEntry: (slug: string) => string;
  readonly safety: Pick<ExplainedSafetyList<SafetyPlace>, 'find'>;
}

/**
 * What to report of one that leads to what the safety list names: a check follows the Release alone, and the last build
 * all files. What the list names itself is there because its operator wants it.
 */
const tellUnsafe = (
  { slug, uri }: ManifestEntry,
  { move }: Answering,
  before: RepositoryOutcome | undefined,
  { nameEntry, safety }: Naming,
): Told | undefined => {
  const known = before?.uri === uri ? readRedirectTargets(before.findings) : [];
  const target = findUnsafe(safety, uri, [...(move ? [move.uri] : []), ...known])?.target;
  if (target === undefined) return undefined;
  const words = target === move?.uri ? 'redirects to' : 'redirected in the last build to';
  return {
    ...{ slug, what: 'moved', text: `${words} ${target}, which the safety list calls unsafe to add` },
    todo: `take ${nameEntry(slug)} away, or add its address to the list`,
  };
};

/**
 * What to say of the request headers of an entry that is to name an address at another host: nothing followed the
 * redirect with them, and once that address is in the entry, it gets them.
 */
const sayHeaders = ({ uri, headers = {} }: ManifestEntry, target: string): string => {
  const names = Object.keys(headers);
  const { host } = new URL(target);
  if (names.length === 0 || host === new URL(uri).host) return '';
  return `; without its headers (${names.join(', ')}), unless ${host} may know and needs them: it has answered without`;
};

const tellMove = (
  entry: ManifestEntry,
  move: { readonly uri: string; readonly isSecure: boolean },
  owners: ReadonlyMap<string, string>,
  { nameEntry }: Naming,
): Told => {
  const { slug } = entry;
  const tell = (text: string, todo: string): Told => ({ slug, what: 'moved', text, todo });
  const owner = owners.get(repositoryKey({ ...entry, uri: move.uri }));
  if (!move.isSecure) {
    const text = `says, where anybody on the way could have said it, that it moved to ${move.uri}`;
    return tell(text, `make sure of it with its owner before you write that${sayHeaders(entry, move.uri)}`);
  }
  if (owner !== undefined && owner !== slug) {
    const todo = `take ${nameEntry(slug)} away and write ${[slug, ...entry.aliases].join(', ')} into the aliases of ${nameEntry(owner)}`;
    return tell(`moved to ${move.uri}, which is ${owner}`, todo);
  }
  return tell(`moved to ${move.uri}`, `write into ${nameEntry(slug)}: uri: ${move.uri}${sayHeaders(entry, move.uri)}`);
};

/**
 * What to report about the results of a check, by slug. Entries that match the manifest and the last build (`before`,
 * by slug) are left out. Without `naming`, an entry is a file of its own, and every address is safe to add.
 */
export const tellChecks = (
  entries: readonly ManifestEntry[],
  checks: readonly EntryCheck[],
  before: ReadonlyMap<string, RepositoryOutcome>,
  naming: Naming = { nameEntry: (slug) => `${slug}.yaml`, safety: createSafetyList([]) },
): Told[] => {
  const { nameEntry } = naming;
  const owners = new Map(entries.map((entry) => [repositoryKey(entry), entry.slug]));
  const known = new Map(entries.map((entry) => [entry.slug, entry]));
  return checks.flatMap((checked): Told[] => {
    const entry = known.get(checked.slug);
    if (entry === undefined || checked.state === 'offline') return [];
    if (checked.state === 'answers') {
      const signature = tellSignature(entry, checked, before.get(entry.slug));
      const move = checked.move ? tellMove(entry, checked.move, owners, naming) : undefined;
      const told = [tellUnsafe(entry, checked, before.get(entry.slug), naming) ?? move, signature];
      return told.filter((one) => one !== undefined);
    }
    const { slug } = entry;
    if (checked.state === 'unreachable') {
      const isPrivate = checked.code === 'address-refused';
      const hint = isPrivate ? ' (ask again with --allow-private-networks if that is meant)' : '';
      return [{ slug, what: 'unreachable', text: `cannot be reached: ${checked.detail}${hint}`, todo: null }];
    }
    const todo = `where that stays so, take ${nameEntry(slug)} away`;
    return [{ slug, what: 'gone', text: `is gone: ${checked.detail}`, todo }];
  });
};

// Text from strangers must not control the terminal.
const plain = (text: string): string => text.replaceAll(/[\p{Control}\p{Format}]/gu, '?');

/** The report about one entry, for a terminal: a line, and below it what to write. */
export const describeTold = ({ slug, text, todo }: Told): string =>
  `${plain(`${slug} ${text}`)}\n${todo === null ? '' : `    ${plain(todo)}\n`}`;

/**
 * The exit code of a check: `unreachable` if not one of its entries could be asked, `nothingUsable` if there is
 * something to write.
 */
export const chooseEnding = (
  checks: readonly Pick<EntryCheck, 'state'>[],
  told: readonly Pick<Told, 'todo'>[],
): ExitCode => {
  if (checks.every(({ state }) => state === 'offline')) return exitCodes.unreachable;
  return told.some(({ todo }) => todo !== null) ? exitCodes.nothingUsable : exitCodes.done;
};

/** The counts of a check in one sentence. */
export const countChecks = (checks: readonly EntryCheck[]): string => {
  const count = (test: (checked: EntryCheck) => boolean) => checks.filter(test).length;
  const answering = count(({ state }) => state === 'answers');
  const signed = count((checked) => checked.state === 'answers' && checked.signed !== null);
  const offline = count(({ state }) => state === 'offline');
  return [
    `${checks.length} asked: ${answering} answer (${signed} signed, ${answering - signed} not)`,
    `${count((checked) => checked.state === 'answers' && checked.move !== null)} moved`,
    `${count(({ state }) => state === 'gone')} gone`,
    `${count(({ state }) => state === 'unreachable')} cannot be reached`,
    ...(offline > 0 ? [`${offline} not asked for want of a network`] : []),
  ].join(', ');
};
