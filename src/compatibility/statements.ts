import { type Build, buildOf } from './builds.ts';
import { readDemands } from './device-packages.ts';
import { type FirmwareRelation, readRefused, readRequired } from './firmware-relations.ts';
import { complementOf, uniteRanges, type VersionRanges } from './ios-versions.ts';
import type { BuildStatement } from './judgement.ts';
import { readTags } from './tags.ts';
import { readText } from './text-statements.ts';

/** The fields in which a package says what it runs on. */
export interface StatingFields {
  readonly architecture: string;
  readonly depends?: string | null | undefined;
  readonly preDepends?: string | null | undefined;
  readonly conflicts?: string | null | undefined;
  readonly breaks?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
}

/** Where a statement was found. */
export type StatementSource = 'Depends' | 'Pre-Depends' | 'Conflicts' | 'Breaks' | 'Tag' | 'text';

/** One statement of a package about iOS, its build or the device. */
interface Statement {
  readonly source: StatementSource;
  /** The text as written. */
  readonly written: string;
}

/** What a package states. Nothing of this is guessed. */
export interface Stated {
  readonly architecture: string;
  /** What its Architecture is for; undefined if that is not an iOS device. */
  readonly build: Build | 'all' | undefined;
  /** The iOS versions that its fields exclude; empty if they exclude none. */
  readonly excluded: VersionRanges;
  /** Whether its fields limit the iOS versions. */
  readonly bounded: boolean;
  /** The versions that its tags list or its text names; undefined if they name none. Naming versions excludes none. */
  readonly named: VersionRanges | undefined;
  /**
   * What its fields require of the device besides iOS, as names of packages that stand for properties of the device.
   */
  readonly demands: readonly string[];
  readonly statements: readonly Statement[];
}

/** The versions that the fields alone exclude, which is what a search needs. */
export const readExcluded = (fields: StatingFields): VersionRanges =>
  uniteRanges([
    ...firmwareOf(fields).flatMap(({ relation }) => relation.excluded),
    ...readTags(fields.tags).flatMap((tag) => ('excluded' in tag ? tag.excluded : [])),
  ]);

const firmwareOf = ({
  depends,
  preDepends,
  conflicts,
  breaks,
}: StatingFields): { readonly source: StatementSource; readonly relation: FirmwareRelation }[] => [
  ...readRequired(depends).map((relation) => ({ source: 'Depends' as const, relation })),
  ...readRequired(preDepends).map((relation) => ({ source: 'Pre-Depends' as const, relation })),
  ...readRefused(conflicts).map((relation) => ({ source: 'Conflicts' as const, relation })),
  ...readRefused(breaks).map((relation) => ({ source: 'Breaks' as const, relation })),
];

/** Reads what a package states. Never throws; linear in the fields. */
export const readStated = (fields: StatingFields): Stated => {
  const relations = firmwareOf(fields);
  const tags = readTags(fields.tags);
  const text = readText(fields.name, fields.description);
  const demands = [
    ...readDemands(fields.depends).map((written) => ({ source: 'Depends' as const, written })),
    ...readDemands(fields.preDepends).map((written) => ({ source: 'Pre-Depends' as const, written })),
  ];
  const excluded = [
    ...relations.map(({ relation }) => relation.excluded),
    ...tags.flatMap((tag) => ('excluded' in tag ? [tag.excluded] : [])),
  ];
  const listed = tags.flatMap((tag) => ('named' in tag ? tag.named : []));
  const told = listed.length > 0 ? listed : text.flatMap(({ named }) => named ?? []);
  return {
    architecture: fields.architecture,
    build: buildOf(fields.architecture),
    excluded: uniteRanges(excluded.flat()),
    bounded: excluded.length > 0,
    named: told.length > 0 ? uniteRanges(told) : undefined,
    demands: [...new Set(demands.map(({ written }) => written))],
    statements: [
      ...relations.map(({ source, relation }) => ({ source, written: relation.written })),
      ...demands,
      ...tags.map(({ written }) => ({ source: 'Tag' as const, written })),
      ...text.map(({ written }) => ({ source: 'text' as const, written })),
    ],
  };
};

// How many ranges a page carries. No honest package has more; if one has, they are merged into a single one that
// contains all, which excludes less.
const mostRanges = 8;

const fewRanges = (ranges: VersionRanges): VersionRanges => {
  const [first, last] = [ranges[0], ranges.at(-1)];
  return ranges.length > mostRanges && first && last ? [[first[0], last[1]]] : ranges;
};

/** The part of the statements by which a device is judged; undefined if the build is not for iOS devices. */
export const buildStatement = ({ build, excluded, bounded, named, demands }: Stated): BuildStatement | undefined =>
  build === undefined
    ? undefined
    : {
        build,
        firmware: bounded ? fewRanges(complementOf(excluded)) : undefined,
        named,
        asks: demands.length > 0 ? demands.join(' and ') : undefined,
      };
