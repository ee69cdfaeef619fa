import { readFileSync } from 'node:fs';

/**
 * What a note holds in JSON; undefined if it is missing or damaged, cannot be read, or is not what the schema asks for,
 * as where an earlier version wrote it.
 */
export const readJsonFile = <T>(file: string, schema: { parse(value: unknown): T }): T | undefined => {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
};
