import { formatRelation, type Relation } from '../apt/relations.ts';
import type { NewestRecord } from '../catalog/dependency-reading.ts';
import { closureLimits, type DependencyClosure, type UnmetReason } from '../contract/dependency-records.ts';
import type { Closure } from './closure.ts';
import { hasVersion } from './matching.ts';
import type { Refusal } from './resolution.ts';

type Told = DependencyClosure['unmet'][number]['alternatives'][number];

/** A stranger's text, shortened to what is shown. */
export const shorten = (text: string): string => {
  const { characters } = closureLimits;
  return text.length <= characters ? text : `${text.slice(0, characters - 1).toWellFormed()}…`;
};

const versionOf = ({ name, version }: NewestRecord): string => `${name} ${version}`;

const ofRefusal = (refusal: Refusal): [UnmetReason, string] => {
  const candidate = versionOf(refusal.candidate);
  if (refusal.reason === 'dependency') return ['dependency', `${candidate} needs something that cannot be met`];
  const other = refusal.with === null ? 'this firmware' : versionOf(refusal.with);
  return ['conflict', `${candidate} and ${other} cannot be installed together`];
};

const ofNone = (relation: Relation, { offers, candidates, question, added }: Closure): [UnmetReason, string] => {
  const { name } = relation;
  if (!relation.readable) return ['unreadable', 'This is no relation that could be met'];
  if (name === 'firmware' && question.firmware !== null) {
    return ['firmware', `The device runs firmware ${question.firmware}`];
  }
  const newest = offers.newest(name);
  const candidate = candidates.of(name);
  const misfit = [...(candidate === undefined ? [] : [candidate]), ...newest].find((one) =>
    hasVersion(relation, one.version),
  );
  if (misfit !== undefined && !offers.fits(relation, misfit)) {
    return relation.qualifier === 'any'
      ? ['architecture', `${versionOf(misfit)} is not one of those that serve any architecture`]
      : ['architecture', `It is asked for ${relation.qualifier}, and the device has ${question.architecture}`];
  }
  if (candidate !== undefined) return ['version', `The newest version there is ${candidate.version}`];
  const [other] = newest;
  if (other !== undefined) {
    const slug = offers.repositoryOf(other).slug;
    return added.length >= closureLimits.repositories
      ? [
          'repositories',
          `${versionOf(other)} is in ${slug}, and no more than ${closureLimits.repositories} repositories are added`,
        ]
      : ['version', `The version in ${slug} is ${other.version}`];
  }
  const architectures = offers.architectures(name);
  if (architectures.length > 0) {
    return ['architecture', `${name} is there for ${architectures.join(', ')}, not for ${question.architecture}`];
  }
  return offers.providing(name, offers.repositories).length > 0
    ? ['version', 'What provides it does so in another version, or is not the version that apt takes']
    : ['not-found', `No repository has ${name}, or anything that provides it`];
};

/** Why an alternative of a dependency is not satisfied. */
export const tellAlternative = (relation: Relation, refusal: Refusal | undefined, closure: Closure): Told => {
  const [reason, text] = refusal === undefined ? ofNone(relation, closure) : ofRefusal(refusal);
  return { relation: shorten(formatRelation(relation)), reason, text: shorten(text) };
};
