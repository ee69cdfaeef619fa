import {
  config,
  createCleartextMessage,
  createMessage,
  enums,
  generateKey,
  PacketList,
  readPrivateKey,
  reformatKey,
  revokeKey,
  type SecretKeyPacket,
  Signature,
  SignaturePacket,
  sign,
  unarmor,
} from 'openpgp';
import type { RepositoryFiles } from './apt-repository.ts';

/** A new key, and what it signs. */
export interface Signer {
  /** The armoured public key. */
  readonly publicKey: string;
  /** The same key, revoked. */
  readonly revoked: string;
  /** In upper-case hexadecimal. */
  readonly fingerprint: string;
  /** The armoured public key with its subkeys revoked at `date`: softly, because they were replaced, or for theft. */
  withRevokedSubkeys(how: 'soft' | 'hard', date: Date): Promise<string>;
  /** The same key, certified again at `date` and valid without end from then on. */
  prolong(date: Date): Promise<Signer>;
  /** A clear-signed text. */
  clearSign(text: Uint8Array | string, options?: SignOptions): Promise<string>;
  /** An armoured, detached signature. */
  sign(text: Uint8Array | string, options?: SignOptions): Promise<string>;
  /** The same without armour. */
  signBinary(text: Uint8Array | string, options?: SignOptions): Promise<Uint8Array>;
  /** The same with a hash that proves nothing any more, by an RSA key. */
  signWeakly(text: Uint8Array | string, hash: 'md5' | 'sha1'): Promise<string>;
}

interface SignOptions {
  /** When it is signed; by default on 1 June 2026. */
  readonly date?: Date;
  /** How long the signature itself is valid, in seconds; by default without end. */
  readonly validSeconds?: number;
}

// A literal packet of openpgp, which its types leave out.
type Signable = Awaited<ReturnType<typeof createMessage>>['packets'][number];

const userIDs = [{ name: 'Example', email: 'repo@example.org' }];

/**
 * Makes a key, by default of the year 2026, that is valid for this many seconds (0: without end). With `subkey`, a
 * subkey makes its signatures.
 */
export const createSigner = async (
  options: { created?: Date; validSeconds?: number; rsa?: boolean; subkey?: boolean } = {},
): Promise<Signer> => {
  const made = await generateKey({
    userIDs,
    ...(options.subkey ? { subkeys: [{ sign: true }] } : {}),
    ...(options.rsa ? { type: 'rsa', rsaBits: 2048 } : { type: 'ecc', curve: 'ed25519Legacy' }),
    date: options.created ?? new Date('2026-01-01T00:00:00Z'),
    keyExpirationTime: options.validSeconds ?? 0,
    format: 'armored',
  });
  return composeSigner(made);
};

type KeyTexts = Readonly<Record<'privateKey' | 'publicKey' | 'revocationCertificate', string>>;

const composeSigner = async (made: KeyTexts): Promise<Signer> => {
  const key = await readPrivateKey({ armoredKey: made.privateKey });
  const { revocationCertificate } = made;
  const revoked = await revokeKey({ key: key.toPublic(), revocationCertificate, format: 'object' });
  const usual = { signingKeys: key, date: new Date('2026-06-01T00:00:00Z') };

  // What the library does not write itself: weak hashes, and signatures that expire.
  const signByHand = async (
    signable: Signable | undefined,
    options: { date: Date; type?: enums.signature; hash?: enums.hash; validSeconds?: number },
  ): Promise<string> => {
    const packet = new SignaturePacket();
    packet.signatureType = options.type ?? enums.signature.binary;
    packet.publicKeyAlgorithm = key.keyPacket.algorithm;
    packet.hashAlgorithm = options.hash ?? enums.hash.sha512;
    if (options.validSeconds !== undefined) {
      packet.signatureExpirationTime = options.validSeconds;
      packet.signatureNeverExpires = false;
    }
    // The library's types leave out the last parameter. Its signatures contain a salt, but with weak hashes there is none.
    const signPacket = packet.sign.bind(packet) as (...parameters: unknown[]) => Promise<void>;
    await signPacket(key.keyPacket, signable, options.date, true, {
      ...config,
      nonDeterministicSignaturesViaNotation: false,
    });
    const list = new PacketList<SignaturePacket>();
    list.push(packet);
    return new Signature(list).armor();
  };

  return {
    publicKey: made.publicKey,
    revoked: revoked.publicKey.armor(),
    fingerprint: key.getFingerprint().toUpperCase(),
    withRevokedSubkeys: async (how, date) => {
      const primary = key.keyPacket as SecretKeyPacket;
      const flag = how === 'soft' ? enums.reasonForRevocation.keySuperseded : enums.reasonForRevocation.keyCompromised;
      const copy = await readPrivateKey({ armoredKey: made.privateKey });
      copy.subkeys = await Promise.all(key.subkeys.map((subkey) => subkey.revoke(primary, { flag }, date)));
      return copy.toPublic().armor();
    },
    prolong: async (date) => {
      const again = await reformatKey({ privateKey: key, userIDs, date, keyExpirationTime: 0, format: 'armored' });
      return composeSigner(again);
    },
    signBinary: async (text, signOptions = {}) => {
      const message = await createMessage({ binary: Buffer.from(text) });
      const armoured = String(await sign({ message, detached: true, ...usual, ...signOptions }));
      return new Uint8Array((await unarmor(armoured)).data as Uint8Array);
    },
    clearSign: async (text, { validSeconds, ...signOptions } = {}) => {
      const content = Buffer.from(text).toString().replace(/\n$/, '');
      const message = await createCleartextMessage({ text: content });
      const whole = await sign({ message, ...usual, ...signOptions });
      if (validSeconds === undefined) return whole;
      const { packets } = await createMessage({ text: content });
      const type = enums.signature.text;
      const signature = await signByHand(packets[0], { type, date: usual.date, ...signOptions, validSeconds });
      return whole.slice(0, whole.indexOf('-----BEGIN PGP SIGNATURE-----')) + signature;
    },
    sign: async (text, { validSeconds, ...signOptions } = {}) => {
      const message = await createMessage({ binary: Buffer.from(text) });
      if (validSeconds === undefined) {
        return String(await sign({ message, detached: true, ...usual, ...signOptions }));
      }
      return signByHand(message.packets[0], { date: usual.date, ...signOptions, validSeconds });
    },
    signWeakly: async (text, hash) => {
      const { packets } = await createMessage({ binary: Buffer.from(text) });
      return signByHand(packets[0], { date: usual.date, hash: enums.hash[hash] });
    },
  };
};

/** Signs the Release of a flat repository: into an InRelease, a Release.gpg, or both. */
export const signRepository = async (
  files: RepositoryFiles,
  signer: Signer,
  into: readonly ('InRelease' | 'Release.gpg')[] = ['InRelease', 'Release.gpg'],
  options: SignOptions = {},
  folder = '',
): Promise<RepositoryFiles> => {
  const release = files.get(`${folder}/Release`) ?? new Uint8Array();
  const signed = new Map(files);
  if (into.includes('InRelease')) {
    signed.set(`${folder}/InRelease`, Buffer.from(await signer.clearSign(release, options)));
  }
  if (into.includes('Release.gpg')) {
    signed.set(`${folder}/Release.gpg`, Buffer.from(await signer.sign(release, options)));
  }
  return signed;
};
