import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';

/** The members of an ar archive in their order. Throws where the archive is not whole. */
const readAr = (bytes: Buffer): Map<string, Buffer> => {
  if (bytes.toString('latin1', 0, 8) !== '!<arch>\n') throw new Error('no ar archive');
  const members = new Map<string, Buffer>();
  let at = 8;
  while (at < bytes.length) {
    const header = bytes.toString('latin1', at, at + 60);
    const match = /^(\S+) +(\d+) +0 {5}0 {5}100644 {2}(\d+) *`\n$/.exec(header);
    if (match === null || header.length !== 60) throw new Error(`no member at ${at}: ${JSON.stringify(header)}`);
    const end = at + 60 + Number(match[3]);
    if (end > bytes.length) throw new Error(`${match[1]} is cut`);
    members.set(match[1] ?? '', bytes.subarray(at + 60, end));
    at = end + (end % 2);
  }
  if (at !== bytes.length) throw new Error('the padding of the last member is missing');
  return members;
};

const readTar = async (compressed: Buffer | undefined): Promise<Map<string, string | null>> => {
  if (compressed === undefined) throw new Error('a member is missing');
  const entries = await unpackTar(gunzipSync(compressed), { strict: true });
  return new Map(entries.map(({ header, data }) => [header.name, data ? Buffer.from(data).toString() : null]));
};

/** What a package file holds; folders have null for content. Throws where deb(5) is broken. */
export const readDeb = async (
  bytes: Buffer,
): Promise<{ control: Map<string, string | null>; data: Map<string, string | null> }> => {
  const members = readAr(bytes);
  const names = [...members.keys()].join(' ');
  if (names !== 'debian-binary control.tar.gz data.tar.gz') throw new Error(`wrong members: ${names}`);
  if (members.get('debian-binary')?.toString() !== '2.0\n') throw new Error('wrong format version');
  return {
    control: await readTar(members.get('control.tar.gz')),
    data: await readTar(members.get('data.tar.gz')),
  };
};
