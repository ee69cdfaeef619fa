import { phrases } from '../contract/errors.ts';
import { fillPlaceholders } from '../contract/parameters.ts';
import { apiRoot, rootlessWords } from '../contract/paths.ts';
import { replaceAll } from './encoding.ts';

/** A document whose file name differs from its address, because the name in it is encoded. */
export interface EncodedDocument {
  /** The address of its operation, with placeholders, below the API's root. */
  readonly address: string;
  /** The values of the placeholders. */
  readonly names: ReadonlyMap<string, string>;
  /** Below the output folder. */
  readonly file: string;
}

/** What rules are made for. */
export interface RuleInput {
  /** The public address, without trailing slash. */
  readonly base: string;
  /** The path of that address, without trailing slash. */
  readonly below: string;
  /** The folder of the publication, absolute. */
  readonly folder: string;
  /** Whether there are pages. */
  readonly site: boolean;
  /** The address of the function, without trailing slash and path; undefined if there is none. */
  readonly functionUrl?: string | undefined;
  readonly encodedDocuments: readonly EncodedDocument[];
  readonly now: Date;
}

/** Rules for one host. */
export interface HostRules {
  /** Text by path below the folder of the rules. */
  readonly files: Readonly<Record<string, string>>;
  /** The next step, as text for a terminal. */
  readonly next: string;
}

/** Something that cannot be expressed in a host's rules. The message says what to do instead. */
export class RulesImpossible extends Error {
  override name = 'RulesImpossible';
}

/** The sentence of a 501 if there is no function. */
export const noFunction =
  'This host answers with published files; searches and other computed answers need the function, which it has not got';

/** An address of the API with and without its root, below the path of the publication. */
export const withAndWithoutRoot = (below: string, address: string): readonly [string, string] => [
  `${below}/${apiRoot}${address}`,
  `${below}${address}`,
];

/** A text as a part of a regular expression. */
export const literally = (text: string): string => text.replaceAll(/[.+?^${}()|[\]\\*/]/g, String.raw`\$&`);

/** Any of these texts, as a regular expression. */
export const anyOf = (texts: readonly string[]): string => texts.map(literally).join('|');

/** The first segment of any address of the API, as a regular expression. */
export const apiWords = anyOf([apiRoot, ...rootlessWords]);

/** Addresses that the function answers, without the leading slash, as a regular expression. */
export const computedPattern = (address: string): string =>
  literally(address.slice(1))
    .replaceAll(/\\\{\w+\\\}/g, '[^/]+')
    .replace(/\\\/\\\*$/, '/.*');

/** The body of an error. A host may replace `date` and `error`. */
export const errorBody = (status: keyof typeof phrases, error: string | undefined, date: string): string =>
  `{"message":"${status} ${phrases[status]}",${error === undefined ? '' : `"error":"${error}",`}"date":"${date}"}`;

/** The first line of every file of rules. */
export const origin = (host: string): string =>
  `Made by \`npm run rules -- ${host}\` from the table of operations; make it anew instead of changing it.`;

/** The addresses of an operation without a name: that of the API itself with and without its slash. */
export const fixedAddresses = (below: string, address: string): readonly string[] =>
  address === '/' ? [`${below}/${apiRoot}/`, `${below}/${apiRoot}`] : withAndWithoutRoot(below, address);

/** Lines below a line. */
export const indent = (lines: readonly string[], by: string): string[] =>
  lines.map((line) => (line === '' ? '' : by + line));

/** The address of an encoded document, below the API's root. `write` encodes each name in it. */
export const addressWith = ({ address, names }: EncodedDocument, write: (name: string) => string | undefined): string =>
  fillPlaceholders(address, (name) => write(names.get(name) ?? '') ?? '');

/**
 * The addresses, below the API's root, of documents whose names the replacements cannot encode, as clients write them,
 * and these documents. Few publications have any.
 */
export const exactNames = ({ encodedDocuments }: RuleInput): [address: string, file: string][] =>
  encodedDocuments
    .filter((document) => `${apiRoot}${addressWith(document, replaceAll)}.json` !== document.file)
    .map((document) => [addressWith(document, encodeURIComponent), document.file]);
