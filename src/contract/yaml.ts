import { CORE_SCHEMA, dump, load, YAMLException } from 'js-yaml';

// People write YAML, and one document is published as it. The reader is that of YAML 1.2's core schema, of which JSON is
// a part; it refuses fields that are given twice, tags that it does not know and what is nested deeper than 100.

// A text that is no YAML; the message says where, and why.
class YamlInvalid extends Error {
  override name = 'YamlInvalid';
}

// An alias may stand for what holds others, and all of them for far more than was written.
const maxAliases = 1000;
const copiedValues = 100_000;

/** How many values there are, each as often as it is named; `most` where there are more. */
const countValues = (value: unknown, most: number): number => {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const one of Object.values(value)) {
    if (count >= most) return most;
    count += countValues(one, most - count);
  }
  return count;
};

const isTooMuch = (value: unknown, text: string): boolean => {
  const most = text.length + copiedValues;
  return countValues(value, most) >= most;
};

/** The value of a text with one YAML document. Throws YamlInvalid, where an empty text too is none. */
export const readYaml = (text: string): unknown => {
  try {
    const value = load(text, { schema: CORE_SCHEMA, maxAliases });
    if (isTooMuch(value, text)) throw new YamlInvalid('its aliases stand for far more than it holds');
    return value;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { mark, reason } = error;
    const hint = reason.startsWith('bad indentation')
      ? ` (a value with ": " in it, or that begins with @, \`, % or -, needs quotes)`
      : '';
    throw new YamlInvalid(mark ? `line ${mark.line + 1}, column ${mark.column + 1}: ${reason}${hint}` : reason);
  }
};

/**
 * A value as YAML, in lines of up to 80 characters where they can be folded, or of any length. Many readers still read
 * YAML 1.1, where a bare date, "yes" or 12:30 is no text: such texts are quoted.
 */
export const composeYaml = (value: unknown, { folds = true }: { readonly folds?: boolean } = {}): string =>
  dump(value, { noRefs: true, quoteStyle: 'double', lineWidth: folds ? 80 : -1 });
