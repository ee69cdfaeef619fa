import { createHash, type Hash } from 'node:crypto';
import type { Key, PublicKey, Signature, SignaturePacket } from 'openpgp';
import { limitNote, limits } from '../contract/limits.ts';

/** A text and the signatures that are said to be over it. */
export interface SignedText {
  /** The bytes that are used; of a clear-signed file, its content as `splitClearSigned` gives it. */
  readonly text: Uint8Array;
  /** One or several armoured blocks, or binary packets. */
  readonly signature: Uint8Array | string;
  /** Whether the signature stands in one file with the text (RFC 9580 §7). */
  readonly clear: boolean;
}

/**
 * What keeps a signature from being a good one. `bad`: it is not over these bytes, or is no signature. `weak`: it uses
 * what no longer proves anything. `other-key`: it is by none of the keys that were named.
 */
type SignatureFault = 'bad' | 'weak' | 'signature-expired' | 'key-expired' | 'key-revoked' | 'other-key';

/** Who says to have signed, in upper-case fingerprints (key identifiers where there is none), and what is wrong. */
export interface SignatureReport {
  readonly signers: readonly string[];
  readonly fault: SignatureFault | null;
  /** The limit that kept signatures from being looked at. */
  readonly over: string | null;
}

// A megabyte of code that most visits have no use for.
const load = () => import('openpgp');

const blockBegin = '-----BEGIN PGP SIGNATURE-----';
const blockEnd = '-----END PGP SIGNATURE-----';

// Ends at the first beginning without an end, which a search for the whole block would look for once for each.
const findBlocks = (text: string): string[] | null => {
  const blocks: string[] = [];
  for (let start = text.indexOf(blockBegin); start !== -1; ) {
    const end = text.indexOf(blockEnd, start);
    if (end === -1) break;
    blocks.push(text.slice(start, end + blockEnd.length));
    start = text.indexOf(blockBegin, end);
  }
  return blocks.length > 0 ? blocks : null;
};

// openpgp reads one armoured block; Release.gpg and InRelease may hold several.
const readPackets = async (
  signature: Uint8Array | string,
): Promise<{ packets: SignaturePacket[]; outdated: boolean }> => {
  const { readSignature, SignaturePacket: Packet } = await load();
  const text = typeof signature === 'string' ? signature : Buffer.from(signature).toString('latin1');
  const blocks = findBlocks(text);
  const read: Signature[] = [];
  if (blocks !== null) for (const block of blocks) read.push(await readSignature({ armoredSignature: block }));
  else if (typeof signature !== 'string') read.push(await readSignature({ binarySignature: signature }));
  const all = read.flatMap(({ packets }) => [...packets]);
  const packets = all.filter((packet) => packet instanceof Packet);
  // Signatures of version 3, which old tools wrote, are left unread.
  return { packets, outdated: packets.length < all.length };
};

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase();

const signerOf = ({ issuerFingerprint, issuerKeyID }: SignaturePacket): string =>
  issuerFingerprint ? hex(issuerFingerprint) : issuerKeyID.toHex().toUpperCase();

// RFC 9580 §9.5. Those of the second list are refused by apt and openpgp for messages.
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

/** The bytes under a clear signature: without the line end before it (RFC 9580 §7.1), which is not signed. */
const signedBytes = ({ text, clear }: SignedText): Uint8Array => (clear ? text.subarray(0, -1) : text);

const withCanonicalLineEnds = (bytes: Uint8Array): Uint8Array =>
  Buffer.from(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').replace(/\r?\n/g, '\r\n'),
    'latin1',
  );

/** The text hashed once for each algorithm and kind of line ends, ready to be copied. */
type TextHashes = Map<string, Hash>;

/**
 * Whether the two bytes of the hash that a signature carries in the clear (RFC 9580 §5.2.3) are those of this text. No
 * key is needed for it, and it proves nothing about who signed; but a signature left over from an earlier text, the
 * usual fault, fails it. Undefined where it cannot be told.
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

const isVerified = async (
  packet: SignaturePacket,
  signed: SignedText,
  keys: PublicKey[],
  strict: boolean,
): Promise<boolean> => {
  const { createMessage, PacketList, Signature: PgpSignature, verify } = await load();
  const list = new PacketList<SignaturePacket>();
  list.push(packet);
  const lenient = {
    minRSABits: 0,
    rejectPublicKeyAlgorithms: new Set<never>(),
    rejectMessageHashAlgorithms: new Set<never>(),
  };
  const { signatures } = await verify({
    message: await createMessage({ binary: signedBytes(signed) }),
    signature: new PgpSignature(list),
    verificationKeys: keys,
    format: 'binary',
    // Time is looked at apart, so that what is expired can be told from what is wrong.
    date: null,
    ...(strict ? {} : { config: lenient }),
  });
  return (await signatures[0]?.verified.catch(() => false)) ?? false;
};

/** What is wrong with the key itself at this moment. */
const inspectKey = async (key: Key, packet: SignaturePacket, now: Date): Promise<SignatureFault | null> => {
  if (await key.isRevoked(undefined, undefined, now)) return 'key-revoked';
  const ends = [await key.getExpirationTime()];
  for (const subkey of key.getSubkeys(packet.issuerKeyID)) ends.push(await subkey.getExpirationTime(now));
  // A key without an end to its validity has none that could be read (null): nothing vouches for it.
  return ends.some((end) => end === null || (end instanceof Date && end.getTime() <= now.getTime()))
    ? 'key-expired'
    : null;
};

const inspectPinned = async (
  packet: SignaturePacket,
  signed: SignedText,
  keys: PublicKey[],
  now: Date,
): Promise<SignatureFault | null> => {
  const key = keys.find((candidate) => candidate.getKeys(packet.issuerKeyID).length > 0);
  if (key === undefined) return 'other-key';
  const ofKey = await inspectKey(key, packet, now);
  if (ofKey === 'key-revoked') return ofKey;
  if (!(await isVerified(packet, signed, [key], true))) {
    return (await isVerified(packet, signed, [key], false)) ? 'weak' : 'bad';
  }
  return ofKey ?? (isOver(packet, now) ? 'signature-expired' : null);
};

// One good signature is enough among others by keys that nobody named, and a bad one spoils all (as in apt).
const summarise = (faults: readonly (SignatureFault | null)[], outdated: boolean): SignatureFault | null => {
  if (faults.length === 0) return outdated ? 'weak' : 'bad';
  if (faults.includes('bad')) return 'bad';
  if (faults.includes(null)) return null;
  return faults.find((fault) => fault !== 'other-key') ?? 'other-key';
};

/**
 * Reads the signatures of a text. With `key` (armoured public keys) they are verified by it. Without, nobody can tell
 * who signed: then only what shows without a key is found. Never throws for what the origin sent.
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
  return { signers: [...new Set(packets.map(signerOf))].sort(), fault: summarise(faults, outdated), over };
};

/** The keys of an armoured block. Throws where it holds none, or a private one. */
export const readPublicKeys = async (armoured: string): Promise<PublicKey[]> => {
  const { readKeys } = await load();
  const keys = await readKeys({ armoredKeys: armoured });
  if (keys.length === 0) throw new Error('holds no key');
  if (keys.some((key) => key.isPrivate())) throw new Error('holds a private key');
  return keys;
};
