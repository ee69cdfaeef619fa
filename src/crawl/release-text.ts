import { type SplitOptions, splitClearSigned } from '../apt/clearsigned.ts';
import type { ReleaseFile } from '../apt/release.ts';
import { openRelease } from '../apt/release-file.ts';
import { looksLikeHtml } from './content.ts';
import { inspectSignature, type SignatureReport, type SignedText } from './openpgp-signature.ts';

/** The content of a Release or InRelease, or the reason why there is none. */
export type ReadRelease =
  | { readonly kind: 'read'; readonly signed: boolean; readonly content: ReleaseFile }
  | {
      readonly kind: 'unusable';
      readonly code: 'release-html' | 'release-empty' | 'release-unreadable';
      readonly why: string;
    };

const isEmpty = ({ files, architectures, components, ...release }: ReleaseFile): boolean =>
  files.size + architectures.length + components.length === 0 &&
  [release.origin, release.label, release.suite, release.codename, release.version, release.date].every(
    (field) => field === null,
  ) &&
  release.description === null;

// A stranger may list a hundred thousand files. One that is not needed is kept, to show that there are any.
const onlyWanted = (files: ReleaseFile['files'], wanted: readonly string[]): ReleaseFile['files'] => {
  const kept = new Map<string, NonNullable<ReturnType<typeof files.get>>>();
  for (const path of wanted) {
    const entry = files.get(path);
    if (entry !== undefined) kept.set(path, entry);
  }
  const [other] = files;
  if (kept.size === 0 && other !== undefined) kept.set(...other);
  return kept;
};

/**
 * Reads the bytes of a Release or InRelease, split with these options. Of the files that it lists, only those in `wanted`
 * are kept.
 */
export const readReleaseText = (
  bytes: Uint8Array,
  wanted: readonly string[],
  options: SplitOptions = {},
): ReadRelease => {
  if (looksLikeHtml(bytes)) return { kind: 'unusable', code: 'release-html', why: '' };
  if (bytes.length === 0) return { kind: 'unusable', code: 'release-empty', why: '' };
  const opened = openRelease(bytes, options);
  if (opened.kind === 'refused') return { kind: 'unusable', code: 'release-unreadable', why: ` ${opened.reason}` };
  const { signed, content } = opened;
  if (isEmpty(content)) return { kind: 'unusable', code: 'release-unreadable', why: '' };
  return { kind: 'read', signed, content: { ...content, files: onlyWanted(content.files, wanted) } };
};

/** A release whose signature is to be checked. */
export interface SigningQuestion {
  readonly bytes: Uint8Array;
  /** Whether it contains its signature. */
  readonly clear: boolean;
  /** The bytes of Release.gpg. */
  readonly detached: Uint8Array | null;
  /** Armoured public keys for the verification. */
  readonly key: string | undefined;
  readonly now: Date;
}

const findSigned = ({ bytes, clear, detached }: SigningQuestion): SignedText | undefined => {
  if (!clear) return detached ? { text: bytes, signature: detached, clear } : undefined;
  const split = splitClearSigned(bytes);
  return split.kind === 'signed' ? { text: split.content, signature: split.signatures, clear } : undefined;
};

/** How a release is signed; null if it is not. */
export const judgeSignature = async (question: SigningQuestion): Promise<SignatureReport | null> => {
  const signed = findSigned(question);
  return signed === undefined ? null : inspectSignature(signed, question.key, question.now);
};
