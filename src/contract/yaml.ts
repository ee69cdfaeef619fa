import { CORE_SCHEMA, dump, load, YAMLException } from 'js-yaml';

// People write YAML, and one document is published as YAML. The reader implements the core schema of YAML 1.2, of which
// JSON is a part. It refuses repeated fields, unknown tags and nesting deeper than 100.

// A text that is no valid YAML. The message says where, and why.
class YamlInvalid extends Error {
  override name = 'YamlInvalid';
}

// An alias may stand for a value that contains aliases, so that a short text expands to far more than was written.
const maxAliases = 1000;
const copiedValues = 100_000;

/** How many values there are, counting each as often as it is referenced; `most` if there are more. */
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

/** The value of a text with one YAML document. Throws YamlInvalid, also for an empty text. */
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
 * Writes a value as YAML, folded into lines of up to 80 characters, or with lines of any length. Many readers still
 * implement YAML 1.1, in which a bare date, "yes" or 12:30 is no text, so such texts are quoted.
 */
export const composeYaml = (value: unknown, { folds = true }: { readonly folds?: boolean } = {}): string =>
  dump(value, { noRefs: true, quoteStyle: 'double', lineWidth: folds ? 80 : -1 });
