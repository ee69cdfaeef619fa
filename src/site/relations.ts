import { rememberRecent } from './page-keys.ts';

/** One package in a relation. */
interface Alternative {
  readonly name: string;
  /** Version and architecture restriction as written, such as `(>= 1.2)`; empty if there is none. */
  readonly restriction: string;
  /** The package whose page describes it: itself, or one that provides it; undefined if the index has neither. */
  readonly target?: string;
  /** Where a required one without a page comes from: every jailbreak has it, or the index does not know. */
  readonly from?: 'jailbreak' | 'nowhere';
}

/** Alternatives, one of which satisfies the relation. */
export type Relation = readonly Alternative[];

const alternative = /^([^\s([:]+)(?::[^\s([]+)?\s*(.*)$/s;
// Nobody reads a longer list.
const mostRelations = 200;

/** The number of relations of a field that are not read because it has more than that. */
export const countUnread = (field: string): number => {
  const unread = field.split(',').slice(mostRelations);
  return unread.filter((group) => group.trim() !== '').length;
};

/** Writes alternatives as a relation field does, with "or" between them. */
export const writeAlternatives = (group: readonly Pick<Alternative, 'name' | 'restriction'>[]): string =>
  group.map(({ name, restriction }) => `${name} ${restriction}`.trim()).join(' or ');

/** A field by which it is compared with others: some builds write blanks where others do not. */
export const withoutBlanks = (field: string): string => field.replace(/\s+/g, '');

/** Parses a relation field (Debian Policy, section 7.1). Text that is no relation is kept as a name without target. */
export const parseRelations = (field: string | undefined): readonly (readonly Alternative[])[] =>
  field === undefined ? [] : parseField(field);

// A page asks for those of its package four times.
const parseField = rememberRecent((field: string): readonly (readonly Alternative[])[] =>
  field
    .split(',', mostRelations)
    .map((group) =>
      group
        .split('|')
        .map((text) => alternative.exec(text.trim()))
        .filter((match) => match !== null)
        .map((match) => ({ name: match[1] ?? '', restriction: (match[2] ?? '').replace(/\s+/g, ' ').trim() })),
    )
    .filter((group) => group.length > 0),
);
