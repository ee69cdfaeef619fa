// Relations between packages (Debian Policy, chapter 7): what a package needs, refuses and provides.

/**
 * How a version must compare with that of a relation. As in apt, the `<` and `>` of old packages mean `<=` and `>=`.
 */
type VersionOperator = '<<' | '<=' | '=' | '>=' | '>>';

/** One package that a relation names. */
export interface Relation {
  /** As written, whatever that is: no package satisfies a relation that cannot be read. */
  readonly name: string;
  /** What follows the colon in `name:any`; null if there is no colon. */
  readonly qualifier: string | null;
  readonly operator: VersionOperator | null;
  /** Null exactly if there is no operator. */
  readonly version: string | null;
  /** False if the text is no relation. */
  readonly readable: boolean;
}

/** Alternatives in order, one of which is enough. */
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

// apt and dpkg take a version without an operator as that exact version. No part can begin with a character of the part
// before it, so there is only one way to match a text.
const written =
  /^([^\s():|,[\]<>]+)(?::([^\s():|,[\]<>]+))?\s*(?:\(\s*(?:(<<|<=|<|=|>=|>>|>)\s*)?([^\s()<>=][^\s()]*)\s*\))?$/;

const parseOne = (text: string): Relation => {
  const match = written.exec(text);
  if (match === null) return { name: text, qualifier: null, operator: null, version: null, readable: false };
  const [, name = '', qualifier = null, operator, version = null] = match;
  return {
    name,
    qualifier,
    operator: version === null ? null : (operators[operator ?? '='] ?? null),
    version,
    readable: true,
  };
};

/**
 * The groups of alternatives in a field such as Depends, in their order, without empty ones. Never throws; linear in
 * the text.
 */
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

/** A name that a package provides besides its own, and the version; null if none is stated. */
export interface Provision {
  readonly name: string;
  readonly version: string | null;
}

/**
 * The names in a field Provides, each name and version once. An entry that cannot be read, or has another operator than
 * `=`, provides nothing.
 */
export const parseProvides = (field: string | null | undefined): Provision[] => {
  const found = new Map<string, Provision>();
  for (const { name, operator, version, readable } of parseRelationField(field).flat()) {
    if (!readable || (operator !== null && operator !== '=')) continue;
    found.set(`${name} ${version ?? ''}`, { name, version });
  }
  return [...found.values()];
};

/** Formats a relation as it is written. */
export const formatRelation = ({ name, qualifier, operator, version }: Relation): string =>
  `${name}${qualifier === null ? '' : `:${qualifier}`}${operator === null ? '' : ` (${operator} ${version})`}`;

const nameInApt = /[^ \t-\r()[\],|<>]+[ \t-\r]*/y;
const versionStartInApt = /\([ \t-\r]*/y;
const operatorInApt = /(?:<[<=]?|>[>=]?|=)?[ \t-\r]*/y;
const separatorInApt = /[ \t-\r]*(?:[,|][ \t-\r]*|$)/y;
// Nearly every field is written like this, and all of it is matched at once. There is only one way to match a text.
const usual = /^(?:[^ \t-\r()[\],|<>]+(?: \((?:<<|<=|=|>=|>>) [^ \t-\r()]+\))?(?:, | \| |$))+$/;

const endOf = (pattern: RegExp, text: string, start: number): number | undefined => {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
};

/**
 * Whether APT can read a field of relations (ParseDepends in deblistparser.cc of apt 2.6). If it cannot, it reads no
 * index at all while this one is among its sources. It takes some texts that are no relation to us, such as the version
 * in "b (= 1 2)", and refuses "b [amd64]", "b >= 1" and ", b". Linear in the text; never throws for one within the limits of
 * a field.
 */
export const isReadByApt = (field: string): boolean => {
  if (usual.test(field)) return true;
  const text = field.replace(/^[ \t-\r]+/, '').trimEnd();
  for (let at = 0; at < text.length; ) {
    const afterName = endOf(nameInApt, text, at);
    if (afterName === undefined) return false;
    const version = endOf(versionStartInApt, text, afterName);
    let end = afterName;
    if (version !== undefined) {
      // apt wants three more characters, whichever they are: it refuses "(>1)" at the end of a field, and nowhere else.
      if (version + 3 >= text.length) return false;
      const afterOperator = endOf(operatorInApt, text, version) ?? version;
      const close = text.indexOf(')', afterOperator);
      if (close <= afterOperator) return false;
      end = close + 1;
    }
    const next = endOf(separatorInApt, text, end);
    if (next === undefined) return false;
    at = next;
  }
  return true;
};
