import type { ExampleSubject } from './example-subject.ts';

// What a parameter is, and the kinds of them that several are of: how a text that was sent is read, and what is said where
// it is wrong.

/** Bounds of a value as JSON Schema; the reading turns text into values, which a schema cannot show. */
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

/** What the description says of a parameter. */
export interface ParameterText {
  readonly description: string;
  /** Of a query; what stands in an address always has to be there. */
  readonly required?: boolean;
  readonly schema: ParameterSchema;
}

/** How a parameter stands in the name of a file, and what the description calls it there. */
export interface InFile extends ParameterText {
  readonly name: string;
  /** The value as the name spells it, where it is another one. */
  readonly spell?: (value: string) => string;
}

export interface Parameter extends ParameterText {
  /** What stands for it in the example of an operation with this tag; undefined where examples leave it out. */
  readonly example: ((subject: ExampleSubject, tag: string) => string) | undefined;
  /** Where a document is named after it. */
  readonly inFile?: InFile;
  /** Where a folder of documents is named after it. */
  readonly inFolder?: Omit<InFile, 'spell'>;
}

/** Ends the reading with what is wrong, in words that go on behind the name of the parameter. */
export type Refuse = (complaint: string) => never;

/** A parameter of a query. */
export interface QueryParameter<T> extends Parameter {
  /** What it is called in a query, where it is not called as it is here. */
  readonly written?: string;
  /**
   * Whether its value holds words as a form writes them, where "+" is a blank. In identifiers and addresses a plus is a
   * plus, because clients send both without encoding them.
   */
  readonly words?: true;
  /** The value of what was sent; undefined is sent for a parameter that need not be there and is not. */
  readonly read: (text: string | undefined, refuse: Refuse) => T;
}

interface Common extends Pick<Parameter, 'description' | 'example'> {}

/** A parameter that must be there. */
export const required = <T>({
  read,
  ...parameter
}: Omit<QueryParameter<T>, 'read'> & { read: (text: string, refuse: Refuse) => T }): QueryParameter<T> => ({
  ...parameter,
  required: true,
  read: (text = '', refuse) => read(text, refuse),
});

/** A number with a value where none is given; without a maximum no number is too large. */
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
      // Decimal digits alone: Number() would also take "1e2", "0x10" and blanks. However many: beyond what can be counted
      // there is nothing, and no page is too far behind to be asked for.
      const number = /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : Number.NaN;
      return number >= minimum && number <= maximum ? number : refuse(`must be an integer ${words}`);
    },
  };
};

/** The one of these values that a text is. */
export const oneOf = <T extends string>(values: readonly T[], text: string, refuse: Refuse): T =>
  values.find((value) => value === text) ?? refuse(`must be one of ${values.join(', ')}`);

/**
 * A parameter that narrows what is found, with a text that holds to a pattern. What a form sends empty asks for nothing.
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
  // An example shows what a question finds, and this would keep it from that in many an index.
  example: undefined,
  read: (text, refuse) => {
    if (text === undefined || text === '') return undefined;
    return pattern.test(text) ? text : refuse(complaint);
  },
});

/** A parameter of which what is sent is one of these values, in capitals or not. What a form sends empty asks for nothing. */
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

// As the fields of a stanza are trimmed: an identifier may begin or end with what else Unicode calls white space. Character by
// character, since a pattern for the end would begin at every blank.
const blanks: readonly (string | undefined)[] = [' ', '\t', '\r', '\n'];
const withoutBlanks = (text: string): string => {
  let [start, end] = [0, text.length];
  while (start < end && blanks.includes(text[start])) start++;
  while (end > start && blanks.includes(text[end - 1])) end--;
  return text.slice(start, end);
};

/** What a text lists with commas between, each once. */
export const givenList = (text: string): string[] =>
  [...new Set(text.split(',').map(withoutBlanks))].filter((one) => one !== '');
