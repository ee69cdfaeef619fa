import type { ExampleSubject } from './example-subject.ts';

// Parameters, and the kinds that several of them share: how a value is read, and the message if it is wrong.

/** Limits of a value as JSON Schema. The reader of a parameter converts text to values, which a schema cannot show. */
interface ParameterSchema {
  readonly type: 'string' | 'integer';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly examples?: readonly string[];
  readonly default?: string | number;
}

/** The description of a parameter. */
export interface ParameterText {
  readonly description: string;
  /** For parameters of a query. A parameter in an address is always required. */
  readonly required?: boolean;
  readonly schema: ParameterSchema;
}

/** The parameter in the name of a file, and its description there. */
export interface InFile extends ParameterText {
  readonly name: string;
  /** The spelling of the value in the name, if it differs. */
  readonly spell?: (value: string) => string;
}

export interface Parameter extends ParameterText {
  /** Its value in the example of an operation with this tag; undefined if examples leave it out. */
  readonly example: ((subject: ExampleSubject, tag: string) => string) | undefined;
  /** If a document is named after it. */
  readonly inFile?: InFile;
  /** If a folder of documents is named after it. */
  readonly inFolder?: Omit<InFile, 'spell'>;
}

/** Stops reading with a complaint, which continues a sentence after the name of the parameter. */
export type Refuse = (complaint: string) => never;

/** A parameter of a query. */
export interface QueryParameter<T> extends Parameter {
  /** Its name in a query, if it differs from its name here. */
  readonly written?: string;
  /**
   * Whether its value contains words as a form encodes them, where "+" is a blank. In identifiers and addresses "+" is
   * a plus, because clients send both without encoding them.
   */
  readonly words?: true;
  /** The value for the text that was sent; for undefined if an optional parameter is missing. */
  readonly read: (text: string | undefined, refuse: Refuse) => T;
}

interface Common extends Pick<Parameter, 'description' | 'example'> {}

/** A required parameter. */
export const required = <T>({
  read,
  ...parameter
}: Omit<QueryParameter<T>, 'read'> & { read: (text: string, refuse: Refuse) => T }): QueryParameter<T> => ({
  ...parameter,
  required: true,
  read: (text = '', refuse) => read(text, refuse),
});

/** A number with a default. Without a maximum no number is too large. */
export const integer = ({
  description,
  example,
  written,
  ...bounds
}: Common & { minimum: number; maximum?: number; default: number; written?: string }): QueryParameter<number> => {
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = bounds;
  const words = bounds.maximum === undefined ? `of at least ${minimum}` : `between ${minimum} and ${maximum}`;
  return {
    description,
    example,
    ...(written === undefined ? {} : { written }),
    schema: { type: 'integer', ...bounds },
    read: (text, refuse) => {
      if (text === undefined) return bounds.default;
      // Only decimal digits: Number() would also accept "1e2", "0x10" and blanks. Any number of them, because a page
      // beyond all results is empty rather than an error.
      const number = /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : Number.NaN;
      return number >= minimum && number <= maximum ? number : refuse(`must be an integer ${words}`);
    },
  };
};

/** The value among these that equals a text. */
export const oneOf = <T extends string>(values: readonly T[], text: string, refuse: Refuse): T =>
  values.find((value) => value === text) ?? refuse(`must be one of ${values.join(', ')}`);

/**
 * A parameter that narrows results, with a text that matches a pattern. An empty text, as forms send it, means no
 * filter.
 */
export const filter = ({
  description,
  pattern,
  complaint,
  examples,
}: {
  description: string;
  pattern: RegExp;
  complaint: string;
  examples: readonly string[];
}): QueryParameter<string | undefined> => ({
  description,
  schema: { type: 'string', pattern: pattern.source, examples },
  // An example shows the results of a query, and in many indexes this filter would leave none.
  example: undefined,
  read: (text, refuse) => {
    if (text === undefined || text === '') return undefined;
    return pattern.test(text) ? text : refuse(complaint);
  },
});

/** A parameter with one of these values, in any letter case. An empty text, as forms send it, means no choice. */
export const choice = <T extends string>({
  description,
  values,
}: {
  description: string;
  values: readonly T[];
}): QueryParameter<T | undefined> => ({
  description,
  schema: { type: 'string', enum: values },
  example: undefined,
  read: (text, refuse) => {
    if (text === undefined || text === '') return undefined;
    return values.find((value) => value.toLowerCase() === text.toLowerCase()) ?? oneOf(values, text, refuse);
  },
});

// The same characters as in fields of a stanza, because an identifier may begin or end with other Unicode white space.
// Character by character, because a pattern for the end would be tried at every blank.
const blanks: readonly (string | undefined)[] = [' ', '\t', '\r', '\n'];
const withoutBlanks = (text: string): string => {
  let [start, end] = [0, text.length];
  while (start < end && blanks.includes(text[start])) start++;
  while (end > start && blanks.includes(text[end - 1])) end--;
  return text.slice(start, end);
};

/** The entries of a comma-separated list, each once. */
export const givenList = (text: string): string[] =>
  [...new Set(text.split(',').map(withoutBlanks))].filter((one) => one !== '');
