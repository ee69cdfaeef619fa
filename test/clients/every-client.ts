import type { PackageRecord, RepositoryRecord } from '../../src/contract/records.ts';
import * as azule from './azule.ts';
import * as canisterRs from './canister-rs.ts';
import type { Wire } from './client.ts';
import * as discordBots from './discord-bots.ts';
import * as iamlazy from './iamlazy.ts';
import * as sileo from './sileo.ts';
import * as xkvmInjector from './xkvm-injector.ts';
import * as zebra from './zebra.ts';

/** What there is to ask for: everything that is published. */
export interface Asked {
  readonly packages: readonly PackageRecord[];
  readonly repositories: readonly RepositoryRecord[];
}

/** As many as `most` of a list, spread over all of it. */
const spread = <T>(list: readonly T[], most: number): T[] => {
  const step = Math.max(1, list.length / most);
  return Array.from({ length: Math.min(most, list.length) }, (_, index) => list[Math.floor(index * step)] as T);
};

const isQuestion = (text: string) => [...text.trim()].length >= 2 && [...text.trim()].length <= 256;

/** Questions as people type them, at least 200 of them: names, each letter of some, identifiers, authors, mistakes. */
export const makeQuestions = ({ packages, repositories }: Asked): string[] => {
  const questions = new Set<string>();
  const add = (...texts: string[]) => {
    for (const text of texts.filter(isQuestion)) questions.add(text);
  };
  for (const { name, package_id, author, section } of spread(packages, 60)) {
    const shown = name ?? package_id;
    add(shown, shown.slice(0, 3), shown.toUpperCase(), shown.split(/\s+/).reverse().join(' '));
    add(package_id, package_id.slice(0, 6), package_id.split('.').at(-1) ?? '', author ?? '', section ?? '');
    add(shown.slice(0, 2) + shown.slice(3));
  }
  for (const { name, package_id } of spread(packages, 12)) {
    const shown = name ?? package_id;
    for (let length = 2; length <= shown.length; length++) add(shown.slice(0, length));
  }
  for (const { slug, origin_hostname, description } of spread(repositories, 30)) {
    add(slug, origin_hostname, description ?? '');
  }
  add(
    'nothing at all is called so',
    '"AND" OR NEAR(',
    '%%',
    '* *',
    "'; --",
    'é́',
    '🎉🎉',
    'a'.repeat(256),
    'שלום',
    'com',
    'lib',
    'co',
  );
  return [...questions];
};

/**
 * Has every program ask all it asks, and decode what it gets; search, for these questions. Throws a DecodingError where one
 * would fail. Returns how many answers were decoded.
 */
export const runEveryClient = async (
  wire: Wire,
  asked: Asked,
  questions: readonly string[] = makeQuestions(asked),
): Promise<number> => {
  const { packages, repositories } = asked;
  let decoded = 0;
  const count = async (work: Promise<unknown>) => {
    await work;
    decoded++;
  };
  for (const question of questions) {
    await count(sileo.search(wire, question));
    await count(discordBots.searchPackages(wire, question));
    await count(discordBots.searchRepositories(wire, question));
    await count(canisterRs.search(wire, question));
  }
  const ids = [...new Set(packages.map(({ package_id }) => package_id))].filter((id) => /^[A-Za-z0-9.+-]+$/.test(id));
  await count(sileo.multi(wire, ids.slice(0, 50)));
  await count(sileo.multi(wire, ['none.of.these', 'is.known']));
  await count(iamlazy.restore(wire, [...ids.slice(0, 700), 'not.in.any.repository']));
  await count(discordBots.listRepositories(wire));
  // What cannot be asked for by its identifier (decisions, sections 1 and 3).
  const unreachable = new Set(['search', 'multi', '.', '..']);
  for (const id of spread(ids, 300).filter((each) => !unreachable.has(each) && each.length <= 255)) {
    await count(xkvmInjector.resolve(wire, id));
    await count(azule.findRepositories(wire, id));
  }
  const uris = repositories.map(({ uri }) => uri);
  const verdicts = await sileo.safety(wire, uris.slice(0, 250));
  if (verdicts.some(({ uri }, index) => uri !== uris[index]))
    throw new Error('a source would be added under another name');
  const downloads = spread(packages, 256).map(({ package_id: id, version, repository: { uri } }) => ({
    id,
    version,
    uri,
  }));
  await count(sileo.ingest(wire, downloads));
  await count(zebra.ingest(wire, downloads));
  await count(sileo.launch(wire));
  await count(zebra.launch(wire));
  return decoded + 1;
};
