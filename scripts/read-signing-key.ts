import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { generationPath } from '../src/contract/generation.ts';
import { sayUnreadable } from '../src/contract/mistakes.ts';
import type { Log } from '../src/log/log.ts';
import { createSigner, type Signer } from '../src/publication/signature.ts';
import { UsageError } from './options.ts';

/**
 * The signer of generations: DEBDEX_SIGNING_KEY holds the private key in PEM, or the name of its file. It is a
 * variable, not a flag, because everybody can read the arguments of a process. Undefined if it is not set. Throws a
 * UsageError.
 */
export const readSigner = async (): Promise<Signer | undefined> => {
  const given = process.env.DEBDEX_SIGNING_KEY?.trim();
  if (given === undefined || given === '') return undefined;
  try {
    return await createSigner(given.startsWith('-----BEGIN') ? given : readFileSync(given, 'utf8'));
  } catch (error) {
    // The text is not repeated: it may be a key that lost its first line, and logs are read by others.
    if (isNoFile(error))
      throw new UsageError(
        'DEBDEX_SIGNING_KEY is neither a private key in PEM, which begins with -----BEGIN, nor the name of a file that is there.',
      );
    throw new UsageError(`DEBDEX_SIGNING_KEY: ${sayUnreadable(error) ?? (error as Error).message}`);
  }
};

const isNoFile = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Warns if a build without a key will remove the signature of what is published. */
export const warnOfLostSignature = (out: string, signer: Signer | undefined, log: Pick<Log, 'warn'>): void => {
  if (signer !== undefined || !existsSync(path.join(out, generationPath.signature))) return;
  log.warn(
    'unsigned',
    `What is published in ${out} is signed, and this build has no DEBDEX_SIGNING_KEY: its signature goes, and mirrors and replicas that hold it to a key refuse what follows. Where that is not meant, build again with the key.`,
  );
};
