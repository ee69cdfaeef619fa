/** The fields of a stanza in the order they are written; absent ones are left out. */
export type Fields = readonly (readonly [name: string, value: string | number | undefined])[];

/** A description as a field (Debian Policy, section 5.6.13): the extended text indented, empty lines as a dot. */
export const foldDescription = (text: string): string => {
  const [synopsis, ...rest] = text.trim().split('\n');
  const extended = rest.join('\n').replace(/^\n+/, '');
  if (extended === '') return synopsis ?? '';
  return [synopsis, ...extended.split('\n').map((line) => ` ${line.trim() === '' ? '.' : line}`)].join('\n');
};

/** The text of one stanza, each line ended. A value may begin with a line break: the field's own line is then empty. */
export const formatStanza = (fields: Fields): string =>
  fields
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}:${`${value}`.startsWith('\n') ? '' : ' '}${value}\n`)
    .join('');
