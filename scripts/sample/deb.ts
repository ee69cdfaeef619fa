import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';

/** A file in a package: its path without a leading slash, and its content. */
export interface DebFile {
  readonly path: string;
  readonly content: string;
}

/**
 * Compresses with gzip. The header's byte for the operating system (RFC 1952, section 2.3.1) says "unknown", so that
 * every system writes the same bytes.
 */
export const gzip = (content: string | Uint8Array): Uint8Array => {
  const compressed = gzipSync(content, { level: 9 });
  compressed[9] = 255;
  return compressed;
};

const owner = { uid: 0, gid: 0, uname: 'root', gname: 'root' };

// Every parent folder comes before its content, beginning with `./`, as dpkg-deb writes them.
const foldersOf = (files: readonly DebFile[]): string[] => {
  const folders = new Set(['./']);
  for (const { path } of files) {
    const parts = path.split('/').slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth++) folders.add(`./${parts.slice(0, depth).join('/')}/`);
  }
  return [...folders].sort();
};

const tarball = async (files: readonly DebFile[], mtime: Date): Promise<Uint8Array> => {
  const folders = foldersOf(files).map((name) => ({
    header: { name, size: 0, type: 'directory' as const, mode: 0o755, mtime, ...owner },
  }));
  const members = files.map(({ path, content }) => {
    const body = Buffer.from(content);
    return { header: { name: `./${path}`, size: body.length, mode: 0o644, mtime, ...owner }, body };
  });
  return gzip(await packTar([...folders, ...members]));
};

// The common ar format: a header of 60 characters, then the content, padded to an even length.
const arMember = (name: string, content: Uint8Array, mtime: Date): Uint8Array[] => {
  const seconds = Math.floor(mtime.getTime() / 1000);
  const fields = [name.padEnd(16), `${seconds}`.padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)];
  const header = `${fields.join('')}${`${content.length}`.padEnd(10)}\`\n`;
  return [Buffer.from(header, 'latin1'), content, Buffer.from(content.length % 2 === 1 ? '\n' : '')];
};

/**
 * Builds a package file (deb(5)). `control` is the text of its control file, `files` is what it installs, `mtime` is
 * the time of every member, in whole seconds. The same arguments give the same bytes.
 */
export const buildDeb = async (control: string, files: readonly DebFile[], mtime: Date): Promise<Uint8Array> => {
  const sums = files.map(({ path, content }) => `${createHash('md5').update(content).digest('hex')}  ${path}\n`);
  const controlFiles = [
    { path: 'control', content: control },
    { path: 'md5sums', content: sums.join('') },
  ];
  return Buffer.concat([
    Buffer.from('!<arch>\n'),
    ...arMember('debian-binary', Buffer.from('2.0\n'), mtime),
    ...arMember('control.tar.gz', await tarball(controlFiles, mtime), mtime),
    ...arMember('data.tar.gz', await tarball(files, mtime), mtime),
  ]);
};
