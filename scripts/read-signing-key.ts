import { readFileSync } from 'node:fs';
import { createSigner, type Signer } from '../src/publication/signature.ts';
import { UsageError } from './options.ts';

/**
 * Who signs generations: DEBDEX_SIGNING_KEY holds the private key in PEM, or names the file that does. A variable and no
 * flag, since the arguments of a process are everybody's to read. Undefined where there is none. Throws a UsageError.
 */
export const readSigner = async (environment: NodeJS.ProcessEnv = process.env): Promise<Signer | undefined> => {
  const given = environment.DEBDEX_SIGNING_KEY?.trim();
  if (given === undefined || given === '') return undefined;
  try {
    return await createSigner(given.startsWith('-----BEGIN') ? given : readFileSync(given, 'utf8'));
  } catch (error) {
    throw new UsageError(`DEBDEX_SIGNING_KEY: ${(error as Error).message}`);
  }
};
