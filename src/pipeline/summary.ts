import { isTrust, type LastBuild } from '../catalog/last-build.ts';
import { acceptCommand } from '../contract/accept-command.ts';
import type { PackageChange } from '../contract/generation.ts';
import { visitOutcomeSchema } from '../contract/status.ts';
import { sayMinute } from '../crawl/crawl-error.ts';
import { printable } from '../log/log-line.ts';
import { findPassedLimits } from '../publication/host-limits.ts';
import type { PublishedSize } from '../publication/size.ts';
import type { BuildResult } from './build-result.ts';
import { isDown } from './outcomes.ts';
import type { Progress } from './progress.ts';

const number = (value: number): string => value.toLocaleString('en');

/** A count with what is counted, whose plural ends with "s". */
const amount = (count: number, one: string): string => `${number(count)} ${one}${count === 1 ? '' : 's'}`;

const row = (name: string, text: string): string => `${name.padEnd(14)}${text}\n`;

/** Up to `most` names, and how many more there are. */
const listNames = (names: readonly string[], most: number): string =>
  names.length <= most
    ? names.join(', ')
    : `${names.slice(0, most).join(', ')} and ${number(names.length - most)} more`;

/** How many repositories are signed in which way, the most common first. */
const countSignatures = ({ repositories }: LastBuild): string => {
  const states = Map.groupBy(
    repositories.flatMap(({ signing }) => (signing === null ? [] : [signing.state])),
    (state) => state,
  );
  const sorted = [...states].sort(([, a], [, b]) => b.length - a.length);
  return sorted.map(([state, { length }]) => `${number(length)} ${state}`).join(', ') || 'none read';
};

// A long manifest has hundreds of vanished repositories, and nobody reads so many lines.
const mostDown = 40;
/** More than so many that our own network kept from being asked are told of in one line. */
const fewUnreached = 3;

const describeRepositories = ({ lastBuild, outcomes }: BuildResult): string => {
  const { repositories } = lastBuild;
  const counts = visitOutcomeSchema.options.map(
    (kind) => `${number(repositories.filter(({ outcome }) => outcome === kind).length)} ${kind}`,
  );
  const left = repositories.length - outcomes.length;
  const unvisited = left > 0 ? `; ${number(left)} not visited, as they were before` : '';
  let text = row('Repositories', `${number(repositories.length)}: ${counts.join(', ')}${unvisited}`);
  // One reason for all of them, and none of theirs.
  const unreached = repositories.filter((one) => isDown(one) && one.code === 'no-network');
  const [first] = unreached;
  if (first !== undefined && unreached.length > fewUnreached)
    text += row('', `${number(unreached.length)} could not be asked, of which ${first.slug}: ${first.reason}`);
  const down = repositories.filter(
    (one) => isDown(one) && (unreached.length <= fewUnreached || one.code !== 'no-network'),
  );
  for (const repository of down.slice(0, mostDown)) {
    const { slug, outcome, reason, confirmedAt } = repository;
    const age = confirmedAt === null ? '' : ` Last confirmed ${sayMinute(confirmedAt)}.`;
    text += row('', `${outcome} ${slug}: ${reason ?? 'no reason known'}${age}`);
  }
  if (down.length > mostDown) {
    text += row('', `and ${number(down.length - mostDown)} more; outcomes.json in the state folder has all`);
  }
  return text;
};

// What a rehearsal holds back is kept nowhere, so a word about it would find nothing.
const callsFor = (state: string | undefined) => {
  if (state === undefined) {
    const build = 'a build without --dry-run';
    return {
      take: `${build} says how to take it`,
      confirm: `${build} takes the packages, and says how to confirm the signature`,
    };
  }
  const command = acceptCommand(state, 'SLUG');
  return { take: `${command} takes it`, confirm: `the packages were taken; ${command}, if the signature is meant` };
};

const describeHeldBack = ({ repositories }: LastBuild, state: string | undefined): string => {
  const { take, confirm } = callsFor(state);
  const held = repositories.flatMap(({ slug, heldBack }) => heldBack.map((one) => ({ slug, ...one })));
  const rowsOf = (some: typeof held, name: string, text: string): string =>
    some.length === 0
      ? ''
      : row(name, text) + some.map(({ slug, code, reason }) => row('', `${slug}: ${code}: ${reason}`)).join('');
  return (
    rowsOf(
      held.filter((one) => !isTrust(one)),
      'Held back',
      `${take}, if it is meant`,
    ) + rowsOf(held.filter(isTrust), 'To confirm', confirm)
  );
};

const describeChange = ({ package_id, repository, version, previous_version }: PackageChange): string =>
  `${package_id} ${[previous_version, version].filter((one) => one !== null).join(' to ')} (${repository})`;

const mostNamed = 20;

const describeChanges = (result: BuildResult): string => {
  const { repositoryChanges, packageChanges, lastBuild, newSlugs, isUncompared, statistics } = result;
  const heldBack = new Map(lastBuild.repositories.map((one) => [one.slug, one.heldBack]));
  const waiting = Map.groupBy(repositoryChanges.heldBack, (slug) =>
    heldBack.get(slug)?.every(isTrust) ? 'toConfirm' : 'heldBack',
  );
  const slugsByKind = {
    ...repositoryChanges,
    heldBack: waiting.get('heldBack') ?? [],
    toConfirm: waiting.get('toConfirm') ?? [],
  };
  const words = {
    failing: 'begun to fail',
    recovered: 'recovered',
    heldBack: 'newly held back',
    toConfirm: 'newly signed otherwise, to confirm',
    added: 'new',
    removed: 'gone from the manifest',
  } as const;
  let text = '';
  for (const [kind, word] of Object.entries(words)) {
    const slugs = slugsByKind[kind as keyof typeof words];
    if (slugs.length > 0) text += row('', `${number(slugs.length)} ${word}: ${listNames(slugs, mostNamed)}`);
  }
  const kinds = ['added', 'updated', 'removed'] as const;
  const counts = kinds.map(
    (kind) => `${number(packageChanges.filter(({ change }) => change === kind).length)} ${kind}`,
  );
  if (packageChanges.length > 0) text += row('', `packages: ${counts.join(', ')}`);
  if (isUncompared === true && newSlugs.length < lastBuild.repositories.length) {
    text += row('', 'packages: not known, because there is no sound catalog of the time before');
  }
  for (const one of packageChanges.slice(0, mostNamed)) text += row('', `${one.change} ${describeChange(one)}`);
  if (packageChanges.length > mostNamed) {
    text += row('', `and ${number(packageChanges.length - mostNamed)} more packages; --report FILE names all`);
  }
  const isFirst = isUncompared === true && statistics !== undefined;
  return row('Changes', text !== '' ? '' : isFirst ? 'everything is new' : 'none') + text;
};

const describeFindings = ({ repositories }: LastBuild): string => {
  const found = repositories.flatMap(({ slug, findings }) => findings.map((finding) => ({ slug, ...finding })));
  const byCode = [...Map.groupBy(found, ({ code }) => code)].sort(([a], [b]) => (a < b ? -1 : 1));
  let text = row('Findings', byCode.length === 0 ? 'none' : '');
  for (const [code, findings] of byCode) {
    const count = findings.reduce((sum, one) => sum + one.count, 0);
    const slugs = findings.map(({ slug }) => slug);
    text += row('', `${number(count)} ${code}: ${listNames(slugs, 5)}`);
  }
  return text;
};

const megabytes = (bytes: number): string =>
  bytes < 1e6 ? `${number(Math.ceil(bytes / 1e3))} kB` : `${number(Math.round(bytes / 1e6))} MB`;

const describeSize = (size: PublishedSize): string => {
  const { files, bytes, largest } = size;
  let text = row(
    'Size',
    `${number(files)} files, ${megabytes(bytes)}; the largest is ${largest.path}, ${megabytes(largest.bytes)}`,
  );
  for (const { host, limits } of findPassedLimits(size))
    text += row('', `more than ${host} takes: ${limits.join(', ')}`);
  return text;
};

/** What a build did, for people. `state` is its state folder; undefined for a rehearsal, which keeps nothing. */
export const describeBuild = (result: BuildResult, progress: Progress, state: string | undefined): string => {
  const { outcomes, lastBuild, statistics, documents, stanzas, site, generation } = result;
  const requests = outcomes.reduce((sum, outcome) => sum + outcome.requests, 0);
  const bytes = outcomes.reduce((sum, outcome) => sum + outcome.bytes, 0);
  let text = describeRepositories(result) + describeHeldBack(lastBuild, state) + describeChanges(result);
  for (const repair of result.repairs) text += row('Repaired', repair);
  const { unreadable } = result;
  if (unreadable.length > 0) {
    const names = listNames(unreadable, mostNamed);
    text += row('Damaged', `snapshots that could not be read, to be fetched again by the next visit: ${names}`);
  }
  const leftOut = result.generation?.portionsLeftOut;
  if (leftOut !== undefined)
    text += row('Left out', `the catalog as rows, which functions at the edge follow: ${leftOut}`);
  text += row('Signatures', countSignatures(lastBuild));
  text += row('Requests', `${number(requests)}, ${number(Math.round(bytes / 1000))} kB received`);
  if (statistics !== undefined) {
    const { packages, versions } = statistics;
    text += row(
      'Packages',
      `${number(packages)}, ${amount(versions, 'version')}, of ${amount(stanzas, 'stanza')} read`,
    );
    const { written, unchanged, removed } = documents;
    text += row('Documents', `${number(written)} written, ${number(unchanged)} unchanged, ${number(removed)} removed`);
    if (site !== undefined) {
      const files = `${amount(site.written, 'file')} written, ${number(site.unchanged)} unchanged, ${number(site.removed)} removed`;
      text += row(
        'Site',
        `${amount(site.rendered, 'page')} rendered; ${files}; ${amount(site.searchable, 'package')} searchable`,
      );
    }
  }
  if (generation !== undefined) {
    const { number: which, documents: told } = generation.generation;
    text += row('Generation', `${which}${generation.isNew ? '' : ', as before'}; ${number(told.count)} files`);
  }
  if (result.size !== undefined) text += describeSize(result.size);
  text += describeFindings(lastBuild);
  const seconds = [...progress.seconds].map(([step, time]) => `${step} ${time.toFixed(1)}`);
  // The text contains strangers' names, in which direction marks are allowed.
  return printable(text + row('Seconds', `${progress.total.toFixed(1)}: ${seconds.join(', ')}`));
};

/** What a stopped build had done. */
export const describeStop = ({ outcomes, lastBuild, statistics }: BuildResult, by: string): string => {
  const published = statistics === undefined ? 'nothing was published' : 'what was crawled is published';
  const { length } = lastBuild.repositories;
  return `Stopped by ${by}: ${number(outcomes.length)} of ${number(length)} repositories were visited, and ${published}.\n`;
};
