import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defaultAddress, describedAddress, documentPath } from '../../src/contract/paths.ts';

/** The public address with which an output folder was built. */
export const readPublicAddress = (out: string): string => {
  try {
    return describedAddress(readFileSync(path.join(out, documentPath.openapiJson), 'utf8')) ?? defaultAddress;
  } catch {
    return defaultAddress;
  }
};
