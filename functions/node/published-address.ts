import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describedAddress, documentPath } from '../../src/contract/paths.ts';

/** The public address if no published document names one. */
export const defaultAddress = 'http://localhost:8080';

/** The public address with which an output folder was built. */
export const readPublicAddress = (out: string): string => {
  try {
    return describedAddress(readFileSync(path.join(out, documentPath.openapiJson), 'utf8')) ?? defaultAddress;
  } catch {
    return defaultAddress;
  }
};
