import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { prettifyError } from 'zod';
import { readSafetyEntries, SafetyListInvalid } from '../functions/node/safety-file.ts';
import { sayMistake, sayUnreadable } from '../src/contract/mistakes.ts';
import type { SafetyEntry } from '../src/contract/safety.ts';
import { type Service, serviceSchema } from '../src/contract/service-file.ts';
import { readYaml } from '../src/contract/yaml.ts';
import { type Option, UsageError } from './options.ts';

/** The flag of every command that reads the files that people write: the service, the safety list, the manifest. */
export const dataOption = {
  type: 'string',
  value: 'DIR',
  environment: 'DEBDEX_DATA',
  help: 'Folder of your own service.yaml, safety.yaml and repositories/. Without it: data/ of the project.',
} as const satisfies Option;

const shipped = path.join(import.meta.dirname, '..', 'data');

/** The file of the safety list in a data folder. */
export const safetyFileOf = (data: string | undefined): URL =>
  pathToFileURL(path.resolve(data ?? shipped, 'safety.yaml'));

/** The entries of the safety list in a data folder. Throws a UsageError with every mistake in the file. */
export const readUnsafe = (data: string | undefined): SafetyEntry[] => {
  try {
    return readSafetyEntries(safetyFileOf(data));
  } catch (error) {
    throw error instanceof SafetyListInvalid ? new UsageError(error.message) : error;
  }
};

/** The same for commands that need no safety list: without one, there are no entries. */
export const readOwnUnsafe = (data: string | undefined): SafetyEntry[] =>
  existsSync(safetyFileOf(data)) ? readUnsafe(data) : [];

/** The manifest: the given one, or that of the data folder. */
export const manifestOf = ({ manifest, data }: { manifest?: string | undefined; data?: string | undefined }): string =>
  manifest ?? path.join(data ?? 'data', 'repositories');

/** The file that describes the service. */
export const serviceFileOf = (data: string | undefined): string => path.join(data ?? shipped, 'service.yaml');

const parseService = (file: string): unknown => {
  try {
    return readYaml(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR'].includes(code)) {
      throw new UsageError(`There is no ${file}: name another --data, or copy data/service.yaml of the project there.`);
    }
    throw new UsageError(`${file} ${sayUnreadable(error) ?? `cannot be read: ${message}`}`);
  }
};

/** Reads the description of the service. Throws a UsageError with every mistake in the file. */
export const readService = (data?: string): Service => {
  const file = serviceFileOf(data);
  const { data: service, error } = serviceSchema.safeParse(parseService(file), { error: sayMistake });
  if (service === undefined) throw new UsageError(`${file} is not right:\n${prettifyError(error)}`);
  return service;
};
