import {
  type Alternatives,
  type Provision,
  parseProvides,
  parseRelationField,
  type Relation,
} from '../apt/relations.ts';
import type { RecordRelations } from '../catalog/dependency-reading.ts';
import type { DependencyField } from '../contract/dependency-records.ts';

/** One need of a package. */
export interface Need {
  readonly field: DependencyField | null;
  readonly alternatives: Alternatives;
}

/** The relations of a package, parsed. */
export interface PackageRelations {
  /** In apt's order: what is needed before unpacking comes first. */
  readonly needs: readonly Need[];
  /** What it conflicts with or breaks. */
  readonly refusals: readonly Relation[];
  readonly provisions: readonly Provision[];
  readonly servesAny: boolean;
}

const needsOf = (field: DependencyField, text: string | undefined): Need[] =>
  parseRelationField(text).map((alternatives) => ({ field, alternatives }));

/** Parses the relations of a record. */
export const readRelations = (written: RecordRelations): PackageRelations => ({
  needs: [...needsOf('Pre-Depends', written.preDepends), ...needsOf('Depends', written.depends)],
  refusals: [...parseRelationField(written.conflicts), ...parseRelationField(written.breaks)]
    .flat()
    .filter(({ readable }) => readable),
  provisions: parseProvides(written.provides),
  servesAny: written.anyArchitecture === true,
});

const charactersInStep = 64;

/** The cost of parsing and holding them. */
export const costOf = (written: RecordRelations, { needs, refusals, provisions }: PackageRelations): number => {
  const { preDepends = '', depends = '', conflicts = '', breaks = '', provides = '' } = written;
  const characters = [preDepends, depends, conflicts, breaks, provides].reduce((sum, { length }) => sum + length, 0);
  const relations = needs.reduce((sum, { alternatives }) => sum + alternatives.length, 0);
  return 1 + Math.floor(characters / charactersInStep) + relations + refusals.length + provisions.length;
};
