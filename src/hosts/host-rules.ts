import { phrases } from '../contract/errors.ts';
import { fillPlaceholders } from '../contract/parameters.ts';
import { apiRoot } from '../contract/paths.ts';
import { replaceAll } from './encoding.ts';

/** A document that is not called as it is asked for, because what it is called after is encoded. */
export interface EncodedDocument {
  /** As its operation has it, with placeholders, below the API's root. */
  readonly address: string;
  /** What stands for the placeholders. */
  readonly names: ReadonlyMap<string, string>;
  /** Below the output folder. */
  readonly file: string;
}

/** What rules are made for. */
export interface RuleInput {
  /** The public address, without trailing slash. */
  readonly base: string;
  /** The path of it, without trailing slash. */
  readonly below: string;
  /** The folder of the publication, absolute. */
  readonly folder: string;
  /** Whether there are pages. */
  readonly site: boolean;
  /** Where the function is reached, without trailing slash and without a path; undefined where there is none. */
  readonly functionUrl?: string | undefined;
  readonly encodedDocuments: readonly EncodedDocument[];
  readonly now: Date;
}

/** Rules for one host. */
export interface HostRules {
  /** Text by path below the folder of the rules. */
  readonly files: Readonly<Record<string, string>>;
  /** What to do next, as one reads it on a terminal. */
  readonly next: string;
}

/** What cannot be said to a host, in a sentence that says what to do instead. */
export class RulesImpossible extends Error {
  override name = 'RulesImpossible';
}

/** The sentence of a 501: where there is no function. */
export const noFunction =
  'This host answers with published files; searches and other computed answers need the function, which it has not got';

/** The sentence of a 400 for what the API has no address for. */
export const emptySegment = 'The path must not hold an empty segment';

/** The sentence of a 405 where these methods are answered. */
export const otherMethod = (methods: string): string => `This address answers ${methods}`;

/** An address of the API with and without its root, below the path of the publication. */
export const withAndWithoutRoot = (below: string, address: string): readonly [string, string] => [
  `${below}/${apiRoot}${address}`,
  `${below}${address}`,
];

/** Text as it stands in a regular expression. */
export const literally = (text: string): string => text.replaceAll(/[.+?^${}()|[\]\\*/]/g, String.raw`\$&`);

/** Any of these texts, as a regular expression. */
export const anyOf = (texts: readonly string[]): string => texts.map(literally).join('|');

/** Addresses that the function answers, without the slash at their beginning, as a regular expression. */
export const computedPattern = (address: string): string =>
  literally(address.slice(1))
    .replaceAll(/\\\{\w+\\\}/g, '[^/]+')
    .replace(/\\\/\\\*$/, '/.*');

/** The body of an error; `date` and `error` may be what a host replaces. */
export const errorBody = (status: keyof typeof phrases, error: string | undefined, date: string): string =>
  `{"message":"${status} ${phrases[status]}",${error === undefined ? '' : `"error":"${error}",`}"date":"${date}"}`;

/** The first line of every file of rules. */
export const origin = (host: string): string =>
  `Made by \`npm run rules -- ${host}\` from the table of operations; make it anew instead of changing it.`;

/** The addresses of an operation without a name in it: that of the API itself with and without its slash. */
export const fixedAddresses = (below: string, address: string): readonly string[] =>
  address === '/' ? [`${below}/${apiRoot}/`, `${below}/${apiRoot}`] : withAndWithoutRoot(below, address);

/** Lines below a line. */
export const indent = (lines: readonly string[], by: string): string[] =>
  lines.map((line) => (line === '' ? '' : by + line));

/** The address of an encoded document, below the API's root, with each name in it as `write` writes it. */
export const addressWith = ({ address, names }: EncodedDocument, write: (name: string) => string | undefined): string =>
  fillPlaceholders(address, (name) => write(names.get(name) ?? '') ?? '');

/**
 * Addresses, below the API's root, of documents that no replacements reach, as clients write them, and the documents.
 * Few publications have any.
 */
export const exactNames = ({ encodedDocuments }: RuleInput): [address: string, file: string][] =>
  encodedDocuments
    .filter((document) => `${apiRoot}${addressWith(document, replaceAll)}.json` !== document.file)
    .map((document) => [addressWith(document, encodeURIComponent), document.file]);
