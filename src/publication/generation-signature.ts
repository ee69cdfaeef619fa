import { hash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { generationPath, signaturesFolder } from '../contract/generation.ts';
import { readGeneration, readGenerationText } from './generation-in-force.ts';
import type { OutputFolder } from './output-folder.ts';
import { readText } from './read-text.ts';
import { type Signer, verifySignature } from './signature.ts';

/** The path of the signature that is named after what it signs: the bytes of a `generation.json`. */
export const signaturePathOf = (text: string | Uint8Array): string => generationPath.signatureOf(hash('sha256', text));

/** Replaces the signature in force with this one, or removes it. */
const placeSignature = (output: OutputFolder, jws: string | Uint8Array | undefined): void => {
  if (jws !== undefined) {
    output.write(generationPath.signature, jws);
    return;
  }
  rmSync(output.resolve(generationPath.signature), { force: true });
  output.prune(signaturesFolder);
};

/**
 * Puts a generation into force, of which everything else is written: this is its `generation.json`, and its signature,
 * if it has one. After the first flush, every reader finds a matching signature, however this ends.
 */
export const putGenerationInForce = async (
  output: OutputFolder,
  text: string | Uint8Array,
  jws: string | Uint8Array | undefined,
): Promise<void> => {
  if (jws !== undefined) output.write(signaturePathOf(text), jws);
  await output.flush();
  placeSignature(output, jws);
  output.write(generationPath.current, text);
  await output.flush();
};

/** Replaces the signature of the generation in force, which has this text, or removes it. */
export const replaceSignature = async (
  output: OutputFolder,
  text: string | Uint8Array,
  jws: string | Uint8Array | undefined,
): Promise<void> => {
  if (jws !== undefined) output.write(signaturePathOf(text), jws);
  placeSignature(output, jws);
  await output.flush();
};

/** Signs the generation in force if it is not signed by this key, or not any more. */
export const renewSignature = async (output: OutputFolder, signer: Signer | undefined): Promise<void> => {
  const text = readGenerationText(output);
  const isRight = async (file: string): Promise<boolean> => {
    const jws = readText(output.resolve(file));
    if (signer === undefined || jws === undefined) return signer === undefined && jws === undefined;
    return verifySignature(jws, Buffer.from(text), signer.publicKey);
  };
  if ((await isRight(generationPath.signature)) && (await isRight(signaturePathOf(text)))) return;
  await replaceSignature(output, text, await signer?.sign(Buffer.from(text)));
};

/**
 * Signs the generation in force again if a publishing was killed between writing the signature and the generation, so
 * that nobody has to wait for the next one. To be called at the start of a build. Signs nothing that had not been
 * signed before.
 */
export const mendSignature = async (output: OutputFolder, signer: Signer | undefined): Promise<void> => {
  if (signer === undefined || readGeneration(output) === undefined) return;
  const isSigned = [generationPath.signature, signaturesFolder].some((file) => existsSync(output.resolve(file)));
  if (isSigned) await renewSignature(output, signer);
};
