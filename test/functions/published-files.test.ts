import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isNewer, readGeneration, readOrder, readPortion } from '../../functions/cloudflare/publication-files.ts';
import {
  bucketFiles,
  deployedFiles,
  type PublishedFiles,
  publishedDocuments,
  remoteFiles,
} from '../../functions/cloudflare/published-files.ts';
import { Unavailable } from '../../functions/dependencies.ts';
import { generationPath, generationSchema } from '../../src/contract/generation.ts';
import { createSigner } from '../../src/publication/signature.ts';
import { BuiltPublication } from '../support/built-publication.ts';
import { packages } from '../support/catalog.ts';
import { privateKey, publicKey } from '../support/publication.ts';

afterEach(() => void vi.restoreAllMocks());

const listen = async (answer: Parameters<typeof createServer>[1]): Promise<string> => {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** What was published, but for others in the place of some of it. */
const filesOf = (publication: BuiltPublication, others: ReadonlyMap<string, string | Buffer>): PublishedFiles => ({
  read: async (path) => {
    const bytes = new Uint8Array(Buffer.from(others.get(path) ?? publication.read(path)));
    return { size: bytes.length, sha256: undefined, etag: undefined, body: new Blob([bytes]).stream() };
  },
});

describe('published files as a host at the edge reads them', () => {
  it('E2: are not waited for longer than a minute, whether nothing comes or the rest does not', async () => {
    const limits: number[] = [];
    let end = () => {};
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((limit) => {
      limits.push(limit);
      const controller = new AbortController();
      end = () => controller.abort(new Error('too long'));
      return controller.signal;
    });
    const address = await listen((request, response) => {
      if (request.url === '/half') response.writeHead(200).write('half of it');
      else {
        end();
        response.destroy();
      }
    });
    const files = remoteFiles(address);
    await expect(files.read('nothing')).rejects.toThrow('too long');
    const half = await files.read('half');
    const rest = new Response(half?.body).text();
    end();
    await expect(rest).rejects.toThrow('too long');
    expect(limits).toEqual([60_000, 60_000]);
  });

  it('E2: are asked of the publication itself, past what a cache between has of them', async () => {
    const asked: unknown[] = [];
    const address = await listen((request, response) => {
      asked.push(request.headers['cache-control']);
      response.end('{}');
    });
    await (await remoteFiles(address).read('v2/generation.json'))?.body.cancel();
    expect(asked).toEqual(['no-cache']);
  });

  it('E1: are none where the platform says that they are gone, whose answer is not left unread', async () => {
    let cancelled = 0;
    const body = () => new ReadableStream({ cancel: () => void cancelled++ });
    const answering = (status: number) => deployedFiles({ fetch: async () => new Response(body(), { status }) });
    expect(await answering(404).read('a')).toBeUndefined();
    expect(await answering(410).read('a')).toBeUndefined();
    await expect(answering(500).read('a')).rejects.toThrow('a answered 500');
    expect(cancelled).toBe(3);
  });

  it('E2: may lie in a bucket that nobody may list, which says 403 of the signature that there is not', async () => {
    const publication = new BuiltPublication();
    await publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.a' }) }]);
    const there = '/v2/generation.json';
    let isForbidden = false;
    const address = await listen((request, response) => {
      if (isForbidden || request.url !== there) response.writeHead(403).end();
      else response.end(publication.read(there.slice(1)));
    });
    const files = remoteFiles(address);
    expect(await readGeneration(files, undefined)).toMatchObject({ generation: { number: 1 }, jws: null });
    isForbidden = true;
    await expect(readGeneration(files, undefined)).rejects.toThrow('no v2/generation.json that may be read');
  });

  it('E2: are named where they cannot be read, and told from those of another version where they are none at all', async () => {
    let answer: 'lost' | 'page' | 'western page' | 'other' = 'lost';
    const bodies = { page: '<p>Welcome', 'western page': Buffer.from('<p>Café', 'latin1'), other: '{"format":9}' };
    const address = await listen((_, response) => {
      if (answer === 'lost') response.destroy();
      else response.end(bodies[answer]);
    });
    const why = () => readGeneration(remoteFiles(address), undefined).catch((error: Error) => error.message);
    expect(await why()).toMatch(/^v2\/generation\.json cannot be read: ./);
    for (answer of ['page', 'western page'] as const) {
      expect(await why()).toContain(
        'json is no JSON: see that the publication is whole, and is where it is looked for',
      );
    }
    answer = 'other';
    expect(await why()).toContain('not of a form that this version knows: deploy');
  });

  it('P3: are taken by the signature named after what it signs, where the one in force is of another already', async () => {
    const publication = new BuiltPublication();
    await publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.a' }) }], {
      signer: await createSigner(privateKey),
    });
    const others = new Map<string, string | Buffer>([[generationPath.signature, 'of..another']]);
    const files = filesOf(publication, others);
    expect(await readGeneration(files, publicKey)).toMatchObject({ generation: { number: 1 } });
    const own = generationPath.signatureOf(hash('sha256', publication.read(generationPath.current)));
    // As a host has a page of its own in place of what is missing.
    others.set(own, Buffer.from('<p>Café', 'latin1'));
    others.set(generationPath.signature, publication.read(own));
    expect(await readGeneration(files, publicKey)).toMatchObject({ jws: publication.read(own).toString() });
    others.set(own, 'nor..this');
    others.set(generationPath.signature, 'of..another');
    await expect(readGeneration(files, publicKey)).rejects.toThrow('not by the public key that is configured');
    for (const name of [own, generationPath.signature]) others.set(name, '<!doctype html><title>Sign in</title>');
    expect(await readGeneration(files, undefined)).toMatchObject({ jws: null });
    await expect(readGeneration(files, publicKey)).rejects.toThrow(
      'generation.jws is no signature, but such as a web page',
    );
  });

  it('P3: are refused where the list of portions is another than the generation names, though it could be read', async () => {
    const publication = new BuiltPublication();
    publication.hasPortions = true;
    await publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.a' }) }]);
    const generation = generationSchema.parse(publication.current);
    const { path = '' } = generation.portions ?? {};
    const others = new Map<string, string>();
    const order = () => readOrder(filesOf(publication, others), { generation, text: '', jws: null });
    const { list } = await order();
    expect(list).toBe(publication.read(path).toString());
    others.set(path, list.replace(/"sha256":"../, '"sha256":"00'));
    await expect(order()).rejects.toThrow('is missing or has other bytes than the generation says');
  });

  it('E1: are none in a bucket under names that are longer than it has any, and which it fails at', async () => {
    const asked: string[] = [];
    const bucket = bucketFiles(
      {
        get: async (key) => {
          asked.push(key);
          return null;
        },
      },
      'a/',
    );
    const longest = 'é'.repeat(511);
    expect([await bucket.read(longest), await bucket.read(`${longest}x`)]).toEqual([undefined, undefined]);
    expect(asked).toEqual([`a/${longest}`]);
  });

  it('E1: cannot be read for now where the platform fails, before the first byte of them or between two', async () => {
    const failing = (body: () => ReadableStream<Uint8Array> | Promise<never>) => ({
      get: async () => ({ size: 10, httpEtag: '"x"', body: (await body()) as ReadableStream<Uint8Array> }),
    });
    const half = () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new Uint8Array(5)),
        pull: (controller) => controller.error(new Error('it broke off')),
      });
    for (const [bucket, why] of [
      [failing(() => Promise.reject(new Error('get: Internal error (10001)'))), 'Internal error'],
      [failing(half), 'it broke off'],
    ] as const) {
      const error = await publishedDocuments(bucketFiles(bucket, ''))
        .read('v2/index.json', 'identity')
        .catch((error: unknown) => error);
      expect(error).toBeInstanceOf(Unavailable);
      expect((error as Error).cause).toMatchObject({ message: expect.stringContaining(why) });
    }
  });

  it('E1: are of the size and under the tag that the platform says, but for what it unpacked or weakened on the way', async () => {
    const read = async (headers: Record<string, string>) => {
      const { size, etag } =
        (await deployedFiles({ fetch: async () => new Response('{}', { headers }) }).read('a')) ?? {};
      return { size, etag };
    };
    expect(await read({ 'content-length': '2', etag: '"x"' })).toEqual({ size: 2, etag: '"x"' });
    expect(await read({ 'content-length': '22', 'content-encoding': 'gzip', etag: 'W/"x"' })).toEqual({ etag: '"x"' });
  });

  it('P3: are of a newer generation by its number, and of equal numbers by their date', async () => {
    const publication = new BuiltPublication();
    await publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.a' }) }]);
    const of = (number: number, day: number) =>
      JSON.stringify({ ...publication.current, number, date: `2026-05-0${day}T00:00:00.000Z` });
    expect(isNewer(of(2, 1), of(1, 2))).toBe(true);
    expect(isNewer(of(1, 2), of(2, 1))).toBe(false);
    expect(isNewer(of(2, 2), of(2, 1))).toBe(true);
    expect(isNewer(of(2, 1), of(2, 1))).toBe(false);
  });

  it('E2: are refused where a list says that a portion is larger than a host can hold, before any of it is read', async () => {
    const files: PublishedFiles = { read: () => expect.fail('it was read') };
    const portion = { table: 'record', first: null, end: null, sha256: 'a'.repeat(64) } as const;
    for (const [size, compressedSize] of [
      [9_000_000, 10],
      [10, 9_000_000],
    ] as const) {
      await expect(readPortion(files, { ...portion, size, compressedSize })).rejects.toThrow('has more than 8 MB');
    }
  });

  it('E2: are refused where what stands in a row with its signature is longer than that can be', async () => {
    let most = 0;
    const endless: PublishedFiles = {
      read: async () => ({
        ...{ size: undefined, sha256: undefined, etag: undefined },
        body: new ReadableStream({
          pull: (controller) => {
            most += 1000;
            controller.enqueue(new Uint8Array(1000).fill(34));
          },
        }),
      }),
    };
    await expect(readGeneration(endless, undefined)).rejects.toThrow(/more than \d+ bytes/);
    // Each of the two, with every character escaped.
    expect(2 * 2 * most).toBeLessThan(2_000_000);
  });

  it('E2: are refused where the list is longer than a row of the storage can be', async () => {
    const publication = new BuiltPublication();
    publication.hasPortions = true;
    await publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.a' }) }]);
    const generation = generationSchema.parse(publication.current);
    const list = publication.read(generation.portions?.path ?? '');
    // The most that is read of it, as it would stand in a row.
    let most = 0;
    const endless: PublishedFiles = {
      read: async () => ({
        ...{ size: undefined, sha256: undefined, etag: undefined },
        body: new ReadableStream({
          pull: (controller) => {
            most += list.length;
            controller.enqueue(new Uint8Array(list));
          },
        }),
      }),
    };
    await expect(readOrder(endless, { generation, text: '', jws: null })).rejects.toThrow(/more than \d+ bytes/);
    expect((most / list.length) * JSON.stringify(list.toString()).length).toBeLessThan(2_000_000);
  });

  it('E1: are sent as they come where the platform does not say how large they are, and held whole only where they are small', async () => {
    const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => index % 251);
    let read = 0;
    const platform = (length: number, etag: string | undefined) =>
      publishedDocuments({
        read: async () => {
          read = 0;
          const body = new ReadableStream<Uint8Array>({
            pull: (controller) => {
              if (read === length) controller.close();
              else controller.enqueue(bytes.slice(read, Math.min(length, read + 50_000)));
              read = Math.min(length, read + 50_000);
            },
          });
          return { size: undefined, sha256: undefined, etag, body };
        },
      }).read('v2/large.json', 'identity');
    const large = await platform(bytes.length, '"of-the-platform"');
    expect(read).toBeLessThan(500_000);
    expect(large).toMatchObject({ etag: '"of-the-platform"', size: undefined, body: undefined });
    const sent = await new Response(await large?.open()).arrayBuffer();
    expect(Buffer.compare(Buffer.from(sent), bytes)).toBe(0);
    expect(
      Buffer.compare((await platform(10_000, '"of-the-platform"'))?.body ?? bytes, bytes.subarray(0, 10_000)),
    ).toBe(0);
    expect((await platform(0, '"of-the-platform"'))?.size).toBe(0);
    // Without a tag of the platform's there is but that of its bytes.
    expect((await platform(bytes.length, undefined))?.size).toBe(bytes.length);
  });

  it('E1: are read no further where whoever asked for a large one has left', async () => {
    let reason: unknown;
    let left = 30;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (left-- === 0) controller.close();
        else controller.enqueue(new Uint8Array(100_000));
      },
      cancel: (why) => {
        reason = why;
      },
    });
    const documents = publishedDocuments({
      read: async () => ({ size: undefined, sha256: undefined, etag: '"a"', body }),
    });
    const document = await documents.read('v2/large.json', 'identity');
    await (await document?.open())?.cancel('left');
    expect(reason).toBe('left');
  });
});
