// Relations between packages (Debian Policy, chapter 7): what a package needs, refuses and provides.

/** How a version has to stand to the one of a relation. `<` and `>` of old packages mean `<=` and `>=`, as apt has it. */
type VersionOperator = '<<' | '<=' | '=' | '>=' | '>>';

/** One package that a relation names. */
export interface Relation {
  /** As written, whatever stands there: a relation that cannot be read is one that nothing meets. */
  readonly name: string;
  /** What follows the colon of `name:any`; null where nothing does. */
  readonly qualifier: string | null;
  readonly operator: VersionOperator | null;
  /** Null exactly where there is no operator. */
  readonly version: string | null;
  /** False where the text is no relation. */
  readonly readable: boolean;
}

/** Alternatives, in order, of which any one will do. */
export type Alternatives = readonly Relation[];

const operators: Readonly<Record<string, VersionOperator>> = {
  '<<': '<<',
  '<=': '<=',
  '<': '<=',
  '=': '=',
  '>=': '>=',
  '>': '>=',
  '>>': '>>',
};

// Each part is of characters that the next one cannot begin with, so that there is one way to read a text.
const written = /^([^\s():|,[\]<>]+)(?::([^\s():|,[\]<>]+))?\s*(?:\(\s*(<<|<=|<|=|>=|>>|>)\s*([^\s()]+)\s*\))?$/;

const parseOne = (text: string): Relation => {
  const match = written.exec(text);
  if (match === null) return { name: text, qualifier: null, operator: null, version: null, readable: false };
  const [, name = '', qualifier = null, operator, version = null] = match;
  return {
    name,
    qualifier,
    operator: operator === undefined ? null : (operators[operator] ?? null),
    version,
    readable: true,
  };
};

/** The groups of a field such as Depends, in their order, without empty ones. Never throws; linear in the text. */
export const parseRelationField = (field: string | null | undefined): Alternatives[] => {
  if (field === null || field === undefined) return [];
  return field
    .split(',')
    .map((group) =>
      group
        .split('|')
        .map((text) => text.trim())
        .filter((text) => text !== '')
        .map(parseOne),
    )
    .filter((group) => group.length > 0);
};

/** A name that a package provides besides its own, and in which version; null where it does not say. */
export interface Provision {
  readonly name: string;
  readonly version: string | null;
}

/** What a field Provides names, each name and version once. What cannot be read, or has another operator than `=`, provides nothing. */
export const parseProvides = (field: string | null | undefined): Provision[] => {
  const found = new Map<string, Provision>();
  for (const { name, operator, version, readable } of parseRelationField(field).flat()) {
    if (!readable || (operator !== null && operator !== '=')) continue;
    found.set(`${name} ${version ?? ''}`, { name, version });
  }
  return [...found.values()];
};

/** A relation as it is written. */
export const formatRelation = ({ name, qualifier, operator, version }: Relation): string =>
  `${name}${qualifier === null ? '' : `:${qualifier}`}${operator === null ? '' : ` (${operator} ${version})`}`;
