/** One package that a relation names. */
interface Alternative {
  readonly name: string;
  /** Version and architecture restriction as written, such as `(>= 1.2)`; empty where there is none. */
  readonly restriction: string;
  /** The package whose page tells of it: itself, or one that provides it; undefined where the index has neither. */
  readonly target?: string;
}

/** Alternatives of which any one satisfies the relation. */
export type Relation = readonly Alternative[];

const alternative = /^([^\s([:]+)(?::[^\s([]+)?\s*(.*)$/s;
// Beyond this a list is no longer something a person reads.
const mostRelations = 200;

/** How many relations of a field are not read, since there are so many. */
export const countUnread = (field: string): number => {
  const unread = field.split(',').slice(mostRelations);
  return unread.filter((group) => group.trim() !== '').length;
};

/** Reads a relation field (Debian Policy, section 7.1). Text that is no relation is kept as a name without target. */
export const parseRelations = (field: string | undefined): { name: string; restriction: string }[][] => {
  if (field === undefined) return [];
  return field
    .split(',', mostRelations)
    .map((group) =>
      group
        .split('|')
        .map((text) => alternative.exec(text.trim()))
        .filter((match) => match !== null)
        .map((match) => ({ name: match[1] ?? '', restriction: (match[2] ?? '').replace(/\s+/g, ' ').trim() })),
    )
    .filter((group) => group.length > 0);
};
