import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Documents, Unavailable } from '../../functions/dependencies.ts';
import { type CompressedFiles, createCompressedFiles } from '../../functions/node/compression.ts';
import { createDocuments } from '../../functions/node/document-files.ts';
import { temporaryFolder } from '../support/folder.ts';
import { listDocument, longListDocument, type Published, packageRecord, publish } from '../support/published.ts';
import { startTestServer } from '../support/test-server.ts';

const file = 'v2/jailbreak/repository/large/packages.json';
const target = '/v2/jailbreak/repository/large/packages';

/** A document too large to be held in memory; each version has the same length. */
const large = (version: string) => longListDocument(800, packageRecord('com.example.large', 'large', version));

type Read = Documents['read'];

interface Around {
  /** Comes between the documents and their copies. */
  readonly copying?: (own: CompressedFiles, published: Published) => CompressedFiles;
  /** Comes between the server and the documents. */
  readonly reading?: (own: Read, published: Published) => Read;
  /** Is told why no copy could be written. */
  readonly report?: (error: unknown) => void;
}

/** A published folder with a large document, and a server of it. */
const startLarge = async ({ copying = (own) => own, reading = (own) => own, report }: Around = {}) => {
  const published = publish([]);
  published.write(file, large('1.0'));
  const copies = path.join(published.state, 'compressed');
  const compressed = copying(createCompressedFiles(copies, report), published);
  const own = createDocuments({ folder: published.folder, compressed, memory: 2 ** 20 });
  const documents = { ...own, read: reading(own.read, published) };
  const server = await startTestServer({ published, overrides: { documents } });
  onTestFinished(() => server.close());
  const ask = async (encoding: string) => {
    const answer = await fetch(server.address + target, { headers: { 'accept-encoding': encoding } });
    const { status, headers } = answer;
    const version = /"version":"([^"]+)"/.exec(await answer.text())?.[1];
    return { status, encoding: headers.get('content-encoding'), etag: headers.get('etag'), version };
  };
  return { ask, copies, documents, published };
};

const codings = ['gzip', 'br', 'zstd'];

describe('H4 a large document', () => {
  it('is compressed anew where its copy had to make room for others', async () => {
    const { ask, copies } = await startLarge();
    for (const encoding of codings) {
      const first = await ask(encoding);
      expect(first).toMatchObject({ status: 200, encoding, version: '1.0' });
      rmSync(copies, { recursive: true });
      expect(await ask(encoding)).toEqual(first);
      expect(readdirSync(copies)).toHaveLength(1);
    }
  });

  /** Has one copy take all the room, from a clock that was so many milliseconds ahead. Returns its path. */
  const fill = (copies: string, ahead: number): string => {
    const file = path.join(copies, 'of-another.gzip');
    mkdirSync(copies);
    writeFileSync(file, '');
    // It occupies no disk.
    truncateSync(file, 2 ** 30);
    const at = new Date(Date.now() + ahead);
    utimesSync(file, at, at);
    return file;
  };

  it('is compressed where copies from before the clock was set back an hour take all the room', async () => {
    const { ask, copies } = await startLarge();
    const before = fill(copies, 3_600_000);
    for (const encoding of codings) expect(await ask(encoding)).toMatchObject({ status: 200, encoding });
    expect(existsSync(before)).toBe(false);
    expect(readdirSync(copies)).toHaveLength(codings.length);
  });

  it('is sent as it is where its copy had to make room for one of a clock that is a moment ahead', async () => {
    const { ask, copies } = await startLarge();
    const plain = await ask('identity');
    fill(copies, 59_000);
    expect(await ask('gzip')).toEqual(plain);
    expect(readdirSync(copies)).toEqual(['of-another.gzip']);
  });

  it('is sent as it is where no copy can be written, as on a full disk, which is told once, and compressed later', async () => {
    const told: unknown[] = [];
    let at = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => at);
    onTestFinished(() => void vi.restoreAllMocks());
    const { ask, copies } = await startLarge({ report: (error) => told.push(error) });
    // A file in its place is what nothing can be written below, whoever tries.
    writeFileSync(copies, '');
    const plain = await ask('identity');
    for (const encoding of codings) expect(await ask(encoding)).toEqual(plain);
    expect(told).toEqual([
      expect.objectContaining({ message: expect.stringContaining(copies), cause: expect.any(Error) }),
    ]);
    rmSync(copies);
    expect(await ask('gzip')).toEqual(plain);
    at += 60_000;
    for (const encoding of codings) expect((await ask(encoding)).encoding).toBe(encoding);
    expect(told).toHaveLength(1);
  });

  it('that is replaced after it was described and before it is read is described anew', async () => {
    const { ask, documents, published } = await startLarge();
    const described = await documents.read(file, 'identity');
    expect(described?.body, 'it is not held in memory').toBeUndefined();
    published.write(file, large('2.0'));
    expect(await described?.open()).toBeUndefined();
    expect((await ask('identity')).version).toBe('2.0');
  });

  it('is answered with the tag of the bytes that are sent, also where it is replaced meanwhile', async () => {
    let version = 1;
    const { ask } = await startLarge({
      reading: (own, published) => async (name, encoding) => {
        const document = await own(name, encoding);
        if (version < 4) published.write(file, large(`${++version}.0`));
        return document;
      },
    });
    const meanwhile = await ask('identity');
    expect(meanwhile).toMatchObject({ status: 200, version: '4.0' });
    expect(await ask('identity')).toEqual(meanwhile);
  });

  it('is compressed beside one that takes long, whose client alone waits for that', async () => {
    let files: CompressedFiles | undefined;
    const { ask, published } = await startLarge({
      copying: (own) => {
        files = own;
        return own;
      },
    });
    // What is read of it does not end before the test writes its end.
    const endless = path.join(published.state, 'endless');
    execFileSync('mkfifo', [endless]);
    const long = files?.copy(endless, { size: 2 ** 27, digest: 'other' }, 'gzip');
    for (const encoding of codings) expect((await ask(encoding)).encoding).toBe(encoding);
    await writeFile(endless, '');
    expect(await long).toBeUndefined();
  });

  it.each(codings)('has no copy in %s of other bytes than those that it is named after', async (encoding) => {
    // The document is replaced while its copy waits for its turn.
    let replace = true;
    const { ask, published } = await startLarge({
      copying: (own, folder) => ({
        copy: (...asked) => {
          if (replace) folder.write(file, large('2.0'));
          replace = false;
          return own.copy(...asked);
        },
      }),
    });
    const meanwhile = await ask(encoding);
    expect(meanwhile).toMatchObject({ status: 200, encoding, version: '2.0' });
    expect(await ask(encoding)).toEqual(meanwhile);
    // The first state comes back, as when a build is taken back.
    published.write(file, large('1.0'));
    const back = await ask(encoding);
    expect(back).toMatchObject({ status: 200, encoding, version: '1.0' });
    expect(back.etag).not.toBe(meanwhile.etag);
  });
});

describe('H8 large documents that many clients read', () => {
  it('are read a few pieces at a time, so that new connections and other requests do not wait for all', async () => {
    const { documents } = await startLarge();
    const streams = await Promise.all(
      Array.from({ length: 100 }, async () => (await documents.read(file, 'identity'))?.open()),
    );
    const handle = await open(import.meta.filename);
    const prototype = Object.getPrototypeOf(handle) as typeof handle;
    await handle.close();
    const { read: readPiece } = prototype;
    let [underWay, most] = [0, 0];
    const counted = vi.spyOn(prototype, 'read').mockImplementation(async function (this: typeof handle, ...asked) {
      most = Math.max(most, ++underWay);
      return readPiece.apply(this, asked as never).finally(() => underWay--) as never;
    });
    onTestFinished(() => counted.mockRestore());
    const texts = streams.map((stream, at) => {
      // Half of them leave before their turn.
      if (at % 2 === 0) return stream && text(stream as never);
      const reader = stream?.getReader();
      void reader?.read();
      return reader?.cancel();
    });
    for (const [at, one] of (await Promise.all(texts)).entries())
      expect(one).toBe(at % 2 === 0 ? large('1.0') : undefined);
    expect(most).toBeLessThanOrEqual(4);
  });
});

describe('H4 a document that was compressed when it was published', () => {
  const paths = { small: 'v2/jailbreak/package/com.example.a.json', large: file };

  it.each(['small', 'large'] as const)(
    'is sent as that copy, and never as that of another state (%s)',
    async (size) => {
      const published = publish([]);
      const write = (version: string) => {
        const count = size === 'large' ? 800 : 4;
        const document = listDocument(
          Array.from({ length: count }, () => packageRecord('com.example.a', 'a', version)),
        );
        published.write(paths[size], document);
        return readFileSync(path.join(published.folder, paths[size]));
      };
      const copy = path.join(published.folder, `${paths[size]}.gz`);
      const documents = createDocuments({ folder: published.folder, memory: 2 ** 20 });
      const ask = async () => {
        const document = await documents.read(paths[size], 'gzip');
        const sent = await buffer((await document?.open()) as ReadableStream);
        const bytes = document?.encoding === 'gzip' ? gunzipSync(sent) : sent;
        return { length: document?.size, tag: document?.etag, bytes };
      };
      const first = write('1.0');
      // Known from every other way to compress by its size.
      writeFileSync(copy, gzipSync(first, { level: 0 }));
      const answered = await ask();
      expect(answered.length).toBe(statSync(copy).size);
      expect(answered.bytes.equals(first)).toBe(true);
      // As a build does: the copy goes, the file is replaced, a copy comes.
      rmSync(copy);
      const second = write('2.0');
      const meanwhile = await ask();
      expect(meanwhile.bytes.equals(second)).toBe(true);
      expect(meanwhile.tag).not.toBe(answered.tag);
      writeFileSync(copy, gzipSync(second, { level: 0 }));
      expect((await ask()).bytes.equals(second)).toBe(true);
    },
  );

  it('is read anew where the copy was made anew', async () => {
    const { ask, published } = await startLarge();
    const copy = path.join(published.folder, `${file}.gz`);
    const whole = readFileSync(path.join(published.folder, file));
    for (const level of [0, 1, 9]) {
      writeFileSync(`${copy}.next`, gzipSync(whole, { level }));
      renameSync(`${copy}.next`, copy);
      expect(await ask('gzip')).toMatchObject({ status: 200, version: '1.0', encoding: 'gzip' });
    }
    rmSync(copy);
    expect(await ask('gzip')).toMatchObject({ status: 200, version: '1.0', encoding: 'gzip' });
  });
});

it('H4: of a folder in which nothing is published, as of a disk that is away, no document is said to be missing', async () => {
  const { read } = createDocuments({ folder: temporaryFolder(), memory: 0 });
  await expect(read('v2/jailbreak/package/a.json', 'identity')).rejects.toThrow(Unavailable);
});
