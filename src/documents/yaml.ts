import { stringify } from 'yaml';

/** A value as YAML. Many readers still read YAML 1.1, where a bare date, "yes" or 12:30 is no text: such texts are quoted. */
export const composeYaml = (value: unknown): string =>
  stringify(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
