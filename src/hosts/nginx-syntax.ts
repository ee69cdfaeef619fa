import { indent } from './host-rules.ts';

/** A text without special meaning. */
export const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
/** A regular expression. */
export const pattern = (text: string): string => `"~${text.replaceAll('"', '\\"')}"`;
/** Lines inside a block. */
export const indented = (lines: readonly string[]): string[] => indent(lines, '    ');

/** A map from one variable to one of ours. */
export const map = (source: string, target: string, rows: readonly (readonly [string, string])[]): string[] => [
  `map ${source} $debdex_${target} {`,
  ...indented(rows.map(([value, result]) => `${value} ${result};`)),
  '}',
];

/** The block for requests with addresses that match. */
export const location = (match: string, lines: readonly string[]): string[] => [
  `location ${match} {`,
  ...indented(lines),
  '}',
];
