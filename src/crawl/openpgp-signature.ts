import { createHash, type Hash } from 'node:crypto';
import type { PublicKey, Signature, SignaturePacket, Subkey } from 'openpgp';
import { limitNote, limits } from '../contract/limits.ts';

/** A text, and what is said to be its signature. */
export interface SignedText {
  /** The bytes that are used. For a clear-signed file: its content from `splitClearSigned`. */
  readonly text: Uint8Array;
  /** One or several armoured blocks, or binary packets. */
  readonly signature: Uint8Array | string;
  /** Whether text and signature are in one file (RFC 9580 §7). */
  readonly clear: boolean;
}

/**
 * Why a signature is not good. `bad`: it does not match these bytes, or is no signature. `weak`: it uses methods that
 * no longer prove anything. `binary`: it may be good, but has no armour, which apt refuses. `other-key`: none of the
 * given keys made it.
 */
type SignatureFault = 'bad' | 'weak' | 'binary' | 'signature-expired' | 'key-expired' | 'key-revoked' | 'other-key';

/** Who claims to have signed, as upper-case fingerprints (key identifiers if there is none), and what is wrong. */
export interface SignatureReport {
  readonly signers: readonly string[];
  readonly fault: SignatureFault | null;
  /** The limit because of which signatures were not checked. */
  readonly over: string | null;
}

// A megabyte of code that most visits do not need.
const load = () => import('openpgp');

const blockBegin = '-----BEGIN PGP SIGNATURE-----';
const blockEnd = '-----END PGP SIGNATURE-----';

const keyBegin = '-----BEGIN PGP PUBLIC KEY BLOCK-----';
const keyEnd = '-----END PGP PUBLIC KEY BLOCK-----';

// Stops at the first beginning without an end. A regular expression for whole blocks would search for the end after
// every beginning.
const findBlocks = (text: string, begin: string, end: string): string[] => {
  const blocks: string[] = [];
  for (let start = text.indexOf(begin); start !== -1; ) {
    const last = text.indexOf(end, start);
    if (last === -1) break;
    blocks.push(text.slice(start, last + end.length));
    start = text.indexOf(begin, last);
  }
  return blocks;
};

const byteOrderMark = Buffer.from('\ufeff');

/**
 * Whether the bytes of a Release.gpg have the form of a signature: binary packets, or armoured blocks (one of which may
 * be cut short) with nothing, not even a blank line, between and around them. (apt's gpgv method refuses others as
 * "lines not belonging to a signature".)
 */
export const looksLikeSignature = (bytes: Uint8Array): boolean => {
  if (isUnarmoured(bytes)) return !byteOrderMark.equals(bytes.subarray(0, 3));
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const blocks = findBlocks(text, blockBegin, blockEnd);
  if (blocks.length === 0) return text.startsWith(blockBegin);
  const lineEnd = /[ \t\r]*(?:\n|$)/y;
  for (const block of blocks) {
    if (!text.startsWith(block, lineEnd.lastIndex)) return false;
    lineEnd.lastIndex += block.length;
    if (!lineEnd.test(text)) return false;
  }
  return lineEnd.lastIndex === text.length;
};

// openpgp reads a single armoured block, but Release.gpg, InRelease and a manifest entry may contain several.
const readPackets = async (
  signature: Uint8Array | string,
): Promise<{ packets: SignaturePacket[]; outdated: boolean }> => {
  const { readSignature, SignaturePacket: Packet } = await load();
  const text = typeof signature === 'string' ? signature : Buffer.from(signature).toString('latin1');
  const blocks = findBlocks(text, blockBegin, blockEnd);
  const read: Signature[] = [];
  if (blocks.length > 0) for (const block of blocks) read.push(await readSignature({ armoredSignature: block }));
  else if (typeof signature !== 'string') read.push(await readSignature({ binarySignature: signature }));
  const all = read.flatMap(({ packets }) => [...packets]);
  const packets = all.filter((packet) => packet instanceof Packet);
  // Signatures of version 3, which old tools wrote, are ignored.
  return { packets, outdated: packets.length < all.length };
};

// RFC 9580 §4.2: a packet begins with a byte whose top bit is set, which armour never does.
const isUnarmoured = (signature: Uint8Array | string): boolean =>
  typeof signature !== 'string' && ((signature[0] ?? 0) & 0x80) !== 0;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase();

const signerOf = ({ issuerFingerprint, issuerKeyID }: SignaturePacket): string =>
  issuerFingerprint ? hex(issuerFingerprint) : issuerKeyID.toHex().toUpperCase();

// RFC 9580 §9.5. apt and openpgp refuse those of the second list for messages.
const hashNames: ReadonlyMap<number, string> = new Map([
  [1, 'md5'],
  [2, 'sha1'],
  [3, 'ripemd160'],
  [8, 'sha256'],
  [9, 'sha384'],
  [10, 'sha512'],
  [11, 'sha224'],
]);
const weakHashes: ReadonlySet<number> = new Set([1, 2, 3]);
const textSignature = 1;

/** The bytes under a clear signature, without the line end before it (RFC 9580 §7.1), which is not signed. */
const signedBytes = ({ text, clear }: SignedText): Uint8Array => (clear ? text.subarray(0, -1) : text);

const withCanonicalLineEnds = (bytes: Uint8Array): Uint8Array =>
  Buffer.from(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').replace(/\r?\n/g, '\r\n'),
    'latin1',
  );

/** The hash of the text for each algorithm and kind of line ends, ready to be copied. */
type TextHashes = Map<string, Hash>;

/**
 * Whether the two bytes of the hash in a signature (RFC 9580 §5.2.3) match this text. This needs no key and does not
 * prove who signed, but it detects the usual fault: a signature left over from an earlier text. Undefined if it cannot
 * be determined.
 */
const fitsText = (packet: SignaturePacket, signed: SignedText, hashes: TextHashes): boolean | undefined => {
  const { version, hashAlgorithm, signatureData, signedHashValue, signatureType } = packet;
  const name = hashNames.get(hashAlgorithm ?? 0);
  if (version !== 4 || name === undefined || signatureData === null || signedHashValue === null) return undefined;
  const trailer = Buffer.from([4, 0xff, 0, 0, 0, 0]);
  trailer.writeUInt32BE(signatureData.length, 2);
  const isText = signatureType === textSignature;
  let running = hashes.get(`${name} ${isText}`);
  if (running === undefined) {
    const bytes = signedBytes(signed);
    running = createHash(name).update(isText ? withCanonicalLineEnds(bytes) : bytes);
    hashes.set(`${name} ${isText}`, running);
  }
  const digest = running.copy().update(signatureData).update(trailer).digest();
  return digest[0] === signedHashValue[0] && digest[1] === signedHashValue[1];
};

const isOver = (packet: SignaturePacket, now: Date): boolean => {
  const end = packet.getExpirationTime();
  return end instanceof Date && end.getTime() <= now.getTime();
};

const inspectUnpinned = (
  packet: SignaturePacket,
  signed: SignedText,
  hashes: TextHashes,
  now: Date,
): SignatureFault | null => {
  if (fitsText(packet, signed, hashes) === false) return 'bad';
  if (isOver(packet, now)) return 'signature-expired';
  return weakHashes.has(packet.hashAlgorithm ?? 0) ? 'weak' : null;
};

/** Whether this key made the signature of these bytes, whatever else is wrong with either (as gpgv's GOODSIG). */
const fitsKey = async (packet: SignaturePacket, signed: SignedText, key: PublicKey): Promise<boolean> => {
  const { config, createMessage } = await load();
  const [literal] = (await createMessage({ binary: signedBytes(signed) })).packets;
  const [signing] = key.getKeys(packet.issuerKeyID);
  if (!(literal && signing && packet.signatureType !== null && packet.created !== null)) return false;
  const anyHash = { ...config, rejectHashAlgorithms: new Set<never>(), rejectMessageHashAlgorithms: new Set<never>() };
  // Evaluated at the time of signing, to distinguish expired from wrong signatures.
  return packet.verify(signing.keyPacket, packet.signatureType, literal, packet.created, true, anyHash).then(
    () => true,
    () => false,
  );
};

/** Whether the signature is valid; with `strict`, also by methods that still prove something. */
const isVerified = async (
  packet: SignaturePacket,
  signed: SignedText,
  key: PublicKey,
  strict: boolean,
): Promise<boolean> => {
  const { createMessage, PacketList, Signature: PgpSignature, verify } = await load();
  const list = new PacketList<SignaturePacket>();
  list.push(packet);
  const lenient = {
    minRSABits: 0,
    rejectPublicKeyAlgorithms: new Set<never>(),
    rejectHashAlgorithms: new Set<never>(),
    rejectMessageHashAlgorithms: new Set<never>(),
  };
  const { signatures } = await verify({
    message: await createMessage({ binary: signedBytes(signed) }),
    signature: new PgpSignature(list),
    verificationKeys: [key],
    format: 'binary',
    // Time is checked separately, to distinguish expired from wrong signatures.
    date: null,
    // To extend a key, its owner certifies it again, later than its older signatures.
    config: { allowInsecureVerificationWithReformattedKeys: true, ...(strict ? {} : lenient) },
  });
  return (await signatures[0]?.verified.catch(() => false)) ?? false;
};

/**
 * Whether the owner revoked the subkey. As in gpg, the reason does not matter, and older signatures are invalid, too.
 */
const isSubkeyRevoked = async (subkey: Subkey, key: PublicKey, now: Date): Promise<boolean> => {
  const [binding] = subkey.bindingSignatures;
  return binding !== undefined && subkey.isRevoked(binding, key.keyPacket, now);
};

/** What is wrong with the key itself at this moment. */
const inspectKey = async (key: PublicKey, packet: SignaturePacket, now: Date): Promise<SignatureFault | null> => {
  if (await key.isRevoked(undefined, undefined, now)) return 'key-revoked';
  const ends = [await key.getExpirationTime()];
  for (const subkey of key.getSubkeys(packet.issuerKeyID)) {
    if (await isSubkeyRevoked(subkey, key, now)) return 'key-revoked';
    ends.push(await subkey.getExpirationTime(now));
  }
  // Null means that the end of the key's validity cannot be read, so nothing vouches for it.
  return ends.some((end) => end === null || (end instanceof Date && end.getTime() <= now.getTime()))
    ? 'key-expired'
    : null;
};

const inspectByKey = async (
  packet: SignaturePacket,
  signed: SignedText,
  key: PublicKey,
  now: Date,
): Promise<SignatureFault | null> => {
  // Each check hashes the text again. A good signature, the usual case, needs no second one.
  const isStrong = await isVerified(packet, signed, key, true);
  if (!isStrong && !(await fitsKey(packet, signed, key))) return 'bad';
  const ofKey = await inspectKey(key, packet, now);
  if (ofKey !== null) return ofKey;
  if (!isStrong) return (await isVerified(packet, signed, key, false)) ? 'weak' : 'bad';
  return isOver(packet, now) ? 'signature-expired' : null;
};

// Of two copies of one key the extended one counts, and a revocation in either.
const inspectPinned = async (
  packet: SignaturePacket,
  signed: SignedText,
  keys: PublicKey[],
  now: Date,
): Promise<SignatureFault | null> => {
  const faults: (SignatureFault | null)[] = [];
  for (const key of keys) {
    if (key.getKeys(packet.issuerKeyID).length > 0) faults.push(await inspectByKey(packet, signed, key, now));
  }
  if (faults.length === 0) return 'other-key';
  if (faults.includes('key-revoked')) return 'key-revoked';
  return faults.includes(null) ? null : (faults[0] ?? null);
};

// One good signature is enough beside others by unknown keys, but a bad one spoils all (as in apt).
const summarise = (faults: readonly (SignatureFault | null)[], outdated: boolean): SignatureFault | null => {
  if (faults.length === 0) return outdated ? 'weak' : 'bad';
  if (faults.includes('bad')) return 'bad';
  if (faults.includes(null)) return null;
  return faults.find((fault) => fault !== 'other-key') ?? 'other-key';
};

/**
 * Checks the signatures of a text. With `key` (armoured public keys) they are verified. Without a key it is unknown who
 * signed, and only what shows without one is found. Never throws because of what the origin sent.
 */
export const inspectSignature = async (
  signed: SignedText,
  key: string | undefined,
  now: Date,
): Promise<SignatureReport> => {
  const keys = key === undefined ? undefined : await readPublicKeys(key);
  const bytes = signed.signature.length;
  if (bytes > limits.signatureBytes) return { signers: [], fault: 'bad', over: limitNote('signatureBytes') };
  const read = await readPackets(signed.signature).catch(() => ({ packets: [], outdated: false }));
  const { outdated } = read;
  const packets = read.packets.slice(0, limits.signatures);
  const over = packets.length < read.packets.length ? limitNote('signatures') : null;
  const hashes: TextHashes = new Map();
  const faults: (SignatureFault | null)[] = [];
  for (const packet of packets) {
    faults.push(keys ? await inspectPinned(packet, signed, keys, now) : inspectUnpinned(packet, signed, hashes, now));
  }
  const isBinary = !signed.clear && isUnarmoured(signed.signature);
  return {
    signers: [...new Set(packets.map(signerOf))].sort(),
    fault: isBinary ? 'binary' : summarise(faults, outdated),
    over,
  };
};

/** The keys in all armoured blocks of a text. Throws if a block contains none, or a private key. */
export const readPublicKeys = async (armoured: string): Promise<PublicKey[]> => {
  const { readKeys } = await load();
  if (armoured.includes('-----BEGIN PGP PRIVATE KEY BLOCK-----')) throw new Error('holds a private key');
  const keys: PublicKey[] = [];
  for (const block of findBlocks(armoured, keyBegin, keyEnd)) {
    const read = await readKeys({ armoredKeys: block });
    if (read.length === 0) throw new Error('holds no key');
    keys.push(...read);
  }
  if (keys.length === 0) throw new Error('holds no key');
  if (keys.some((key) => key.isPrivate())) throw new Error('holds a private key');
  return keys;
};
