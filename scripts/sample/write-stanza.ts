/** The fields of a stanza in the order in which they are written. Absent ones are left out. */
export type Fields = readonly (readonly [name: string, value: string | number | undefined])[];

/**
 * Formats a description as a field (Debian Policy, section 5.6.13): the extended text is indented, and empty lines
 * become a dot.
 */
export const foldDescription = (text: string): string => {
  const [synopsis, ...rest] = text.trim().split('\n');
  const extended = rest.join('\n').replace(/^\n+/, '');
  if (extended === '') return synopsis ?? '';
  return [synopsis, ...extended.split('\n').map((line) => ` ${line.trim() === '' ? '.' : line}`)].join('\n');
};

/**
 * The text of one stanza, with every line ended. A value may begin with a line break; then the field's own line is
 * empty.
 */
export const formatStanza = (fields: Fields): string =>
  fields
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}:${`${value}`.startsWith('\n') ? '' : ' '}${value}\n`)
    .join('');
