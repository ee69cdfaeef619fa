import { formatRelation } from '../apt/relations.ts';
import { closureLimits, type DependencyClosure } from '../contract/dependency-records.ts';
import type { Closure } from './closure.ts';
import { shorten, tellAlternative } from './reasons.ts';
import type { Steps } from './work.ts';

type Part<Name extends keyof DependencyClosure> = DependencyClosure[Name] extends readonly (infer Item)[]
  ? Item
  : never;

function* tellPackages({ resolution, offers }: Closure): Generator<Part<'packages'>> {
  for (const { record, requiredBy } of resolution.chosen) {
    yield {
      package_id: record.name,
      version: record.version,
      architecture: record.architecture,
      repository_id: offers.repositoryOf(record).slug,
      required_by: requiredBy?.name ?? null,
      relation: requiredBy && shorten(formatRelation(requiredBy.relation)),
    };
  }
}

const tellDevice = ({ resolution }: Closure): Part<'device'>[] => {
  const told = new Map<string, Part<'device'>>();
  for (const { by, relation, reason } of resolution.device) {
    const text = shorten(formatRelation(relation));
    if (told.has(text)) continue;
    told.set(text, { name: shorten(relation.name), relation: text, required_by: by?.name ?? null, reason });
  }
  return [...told.values()];
};

function* tellUnmet(closure: Closure): Generator<Part<'unmet'>> {
  for (const { by, need, refusals } of closure.resolution.unmet) {
    const told = need.alternatives.slice(0, closureLimits.alternatives);
    yield {
      required_by: by?.name ?? null,
      field: need.field,
      alternatives: told.map((relation, number) => tellAlternative(relation, refusals.get(number), closure)),
      left_out: need.alternatives.length - told.length,
    };
  }
}

const tellAdded = ({ added, offers, resolution: { chosen } }: Closure): Part<'add'>[] =>
  added.map((repository) => ({
    repository_id: repository.slug,
    uri: repository.uri,
    suite: repository.suite,
    package_count: chosen.filter(({ record }) => record.repository === repository.number).length,
    safe: offers.isSafe(repository),
  }));

function* listPieces(items: Iterable<unknown>, pieces: string[]): Steps<void> {
  let comma = '';
  for (const item of items) {
    pieces.push(`${comma}${JSON.stringify(item)}`);
    comma = ',';
    yield;
  }
}

/**
 * The public form of a closure as pieces of JSON text. It is made piece by piece, because it may have several
 * megabytes.
 */
export function* closurePieces(closure: Closure): Steps<string[]> {
  const { question, resolution, had, unknown } = closure;
  const device = tellDevice(closure);
  const isTooLarge = resolution.isTooLarge || device.length > closureLimits.entries;
  const head: Pick<
    DependencyClosure,
    'package_id' | 'architecture' | 'firmware' | 'outcome' | 'repositories' | 'unknown_repositories' | 'add'
  > = {
    package_id: question.packageId,
    architecture: question.architecture,
    firmware: question.firmware,
    outcome: isTooLarge ? 'too-large' : resolution.unmet.length > 0 ? 'unmet' : 'installable',
    repositories: had.map(({ slug }) => slug).sort(),
    unknown_repositories: [...unknown],
    add: tellAdded(closure),
  };
  const pieces = [`${JSON.stringify(head).slice(0, -1)},"packages":[`];
  yield* listPieces(tellPackages(closure), pieces);
  pieces.push('],"device":[');
  yield* listPieces(device.slice(0, closureLimits.entries), pieces);
  pieces.push('],"unmet":[');
  yield* listPieces(tellUnmet(closure), pieces);
  pieces.push(']}');
  return pieces;
}
