import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { prettifyError } from 'zod';
import { type Service, serviceSchema } from '../src/contract/service-file.ts';
import { UsageError } from './options.ts';

const serviceFile = path.join(import.meta.dirname, '..', 'data', 'service.yaml');

/** Who runs this service. Throws a UsageError that names every mistake in the file. */
export const readService = (): Service => {
  const { data, error } = serviceSchema.safeParse(parse(readFileSync(serviceFile, 'utf8')));
  if (data === undefined) throw new UsageError(`data/service.yaml is not right:\n${prettifyError(error)}`);
  return data;
};
