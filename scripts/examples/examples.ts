import { readFileSync } from 'node:fs';
import type { OperationName } from '../../src/contract/paths.ts';

/** Answers of the bundled sample, as `npm run examples` wrote them. */
export const examplesFile = new URL('../../data/openapi-examples.json', import.meta.url);

/** The public address of the service that answered. */
export const examplesAddress = 'https://index.example';

/** The examples of the API's description, by operation, with this public address in place of the one they came from. */
export const readExamples = (publicAddress: string): Partial<Record<OperationName, unknown>> =>
  JSON.parse(readFileSync(examplesFile, 'utf8').replaceAll(examplesAddress, publicAddress));
