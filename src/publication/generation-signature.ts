import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { generationPath, signaturesFolder } from '../contract/generation.ts';
import { readGeneration, readGenerationText } from './generation-in-force.ts';
import type { OutputFolder } from './output-folder.ts';
import { readText } from './read-text.ts';
import { type Signer, verifySignature } from './signature.ts';

/** The path of the signature that is named after what it signs: the bytes of a `generation.json`. */
export const signaturePathOf = (text: string | Uint8Array): string =>
  generationPath.signatureOf(createHash('sha256').update(text).digest('hex'));

/** Puts a signature in the place of the one in force, or none. */
const placeSignature = (output: OutputFolder, jws: string | Uint8Array | undefined): void => {
  if (jws !== undefined) {
    output.write(generationPath.signature, jws);
    return;
  }
  rmSync(output.resolve(generationPath.signature), { force: true });
  output.prune(signaturesFolder);
};

/**
 * Puts a generation in force, of which all else is written: this is its `generation.json`, and its signature, where it has
 * one. From the first flush on whoever reads it finds a signature that fits, however this ends.
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

/** Gives the generation in force, which has this text, another signature, or none. */
export const replaceSignature = async (
  output: OutputFolder,
  text: string | Uint8Array,
  jws: string | Uint8Array | undefined,
): Promise<void> => {
  if (jws !== undefined) output.write(signaturePathOf(text), jws);
  placeSignature(output, jws);
  await output.flush();
};

/** Signs the generation in force where it is not signed by this key, or no longer at all. */
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
 * Signs the generation in force anew where a publishing was killed between its signature and itself, so that nobody has
 * to wait for the next one; to be called at the start of a build. Nothing is signed that was not signed before.
 */
export const mendSignature = async (output: OutputFolder, signer: Signer | undefined): Promise<void> => {
  if (signer === undefined || readGeneration(output) === undefined) return;
  const isSigned = [generationPath.signature, signaturesFolder].some((file) => existsSync(output.resolve(file)));
  if (isSigned) await renewSignature(output, signer);
};
