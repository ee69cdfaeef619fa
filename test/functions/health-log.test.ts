import { describe, expect, it } from 'vitest';
import type { Dependencies, StoredDocument } from '../../functions/dependencies.ts';
import { createHealthCheck } from '../../functions/health/health.ts';
import { createUnhealthyLog, type UnhealthyEvent } from '../../functions/health/unhealthy-log.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { createSafetyList } from '../../src/safety/safety-list.ts';

const listed = { host: 'unsafe.test', reason: 'For tests.', date: '2026-05-01', source: 'https://source.test/' };
const encode = (data: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify({ data }));

/** A published index of repositories of one package each, which may lose some of them, and what is asked of it. */
const publish = (slugs: readonly string[]) => {
  const present = new Set(slugs);
  /** Contents that are given in place of what would be, by path. */
  const damaged = new Map<string, Uint8Array>();
  const idOf = (slug: string) => `com.${slug}`;
  const contentOf = (path: string): Uint8Array | undefined => {
    const records = [...present].map((slug) => ({ slug, package_count: 1 }));
    if (path.includes('/ranking')) return encode(records);
    for (const slug of present) {
      if (path === documentPath.repository(slug)) return encode({ slug });
      if (path === documentPath.repositoryPackages(slug) || path === documentPath.package(idOf(slug))) {
        return encode([{ package_id: idOf(slug) }]);
      }
    }
    return undefined;
  };
  const onRead: { before: (path: string) => void } = { before: () => {} };
  const one = { records: { count: 1, pieces: ['{}'] }, more: false };
  const probed = {
    documents: {
      read: async (path: string): Promise<StoredDocument | undefined> => {
        onRead.before(path);
        const body = damaged.get(path) ?? contentOf(path);
        return body && { etag: '""', encoding: 'identity', size: body.length, body, open: async () => undefined };
      },
    },
    search: {
      searchPackages: async () => one,
      searchRepositories: async () => one,
      repositoryPackages: async () => one,
      latest: async () => one.records,
      known: async () => [],
      knows: async () => true,
      probe: async () => true,
    },
    safety: createSafetyList([listed]),
    downloads: { probe: async () => true },
    probeCredentials: async () => true,
  };
  return { present, damaged, onRead, probed: probed as unknown as Dependencies & typeof probed, idOf };
};

const openCheck = (probed: Dependencies) => {
  let time = Date.UTC(2026, 4, 1);
  const lines: UnhealthyEvent[] = [];
  const check = createHealthCheck(
    probed,
    () => new Date(time),
    (line) => lines.push(line),
  );
  return {
    lines,
    /** As `/readyz` does, from what was asked last. */
    canRead: () => check.canRead(),
    told: () => lines.map(({ leaf, reason }) => `${leaf}: ${reason}`),
    /** Asks so many milliseconds later. */
    ask: (after = 10_000) => {
      time += after;
      return check.whole();
    },
  };
};

describe('H6: health while builds remove what is asked for', () => {
  it.each([
    [1, true],
    [3, true],
    [4, false],
  ])('H6: of samples that vanish one after the other, %i are borne: %s', async (vanishing, expected) => {
    const slugs = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { present, onRead, probed, idOf } = publish(slugs);
    let vanished = 0;
    // Each when its package is looked up, which is after it was chosen.
    onRead.before = (path) => {
      const slug = slugs.find((one) => path === documentPath.package(idOf(one)));
      if (slug !== undefined && vanished < vanishing && present.delete(slug)) vanished++;
    };
    const { ask, canRead, told } = openCheck(probed);
    await ask();
    expect([await canRead(), vanished]).toEqual([expected, vanishing]);
    expect(told().length > 0).toBe(!expected);
  });

  it('H6: chooses no other sample for one that is damaged', async () => {
    const { damaged, probed, idOf, onRead } = publish(['a', 'b']);
    const path = documentPath.package(idOf('a'));
    damaged.set(path, new TextEncoder().encode('{"data":['));
    const read: string[] = [];
    onRead.before = (each) => read.push(each);
    const { ask, told } = openCheck(probed);
    expect((await ask()).route_data.package.lookup_healthy).toBe(false);
    expect(told()).toEqual([
      expect.stringMatching(/^route_data\.package\.lookup_healthy: \S+com\.a\.json is damaged: .*JSON/),
    ]);
    expect(read).not.toContain(documentPath.package(idOf('b')));
  });

  it('H6: reads a large document anew that was replaced after it was found', async () => {
    const { probed } = publish(['a']);
    const { read } = probed.documents;
    let replaced = 0;
    probed.documents.read = async (path) => {
      const document = await read(path);
      if (document === undefined || !path.endsWith(documentPath.repositoryPackages('a'))) return document;
      const { body } = document;
      const isReplaced = ++replaced % 2 === 1;
      const open = async () => (isReplaced ? undefined : new Blob([body as Uint8Array<ArrayBuffer>]).stream());
      return { ...document, body: undefined, open };
    };
    const { ask, told } = openCheck(probed);
    expect((await ask()).healthy).toBe(true);
    expect([told(), replaced]).toEqual([[], 4]);
  });

  it.each([
    ['a list', documentPath.repositoryPackages('a'), 2, /packages_healthy: .* is damaged$/],
    ['the versions of a package', documentPath.package('com.a'), 1, /lookup_healthy: .* is damaged$/],
  ])(
    'H7: reads of %s too large for memory its beginning alone, and holds that it is damaged against it',
    async (_, large, times, leaf) => {
      const { probed } = publish(['a']);
      const { read } = probed.documents;
      const piece = encode([{ package_id: 'com.a' }, { name: 'x'.repeat(50_000) }]);
      let pulled = 0;
      let cancelled = 0;
      let given = piece;
      probed.documents.read = async (path) => {
        const document = await read(path);
        if (document === undefined || path !== large) return document;
        const open = async () =>
          new ReadableStream<Uint8Array>({
            pull: (controller) => {
              pulled += given.length;
              // Of the thousandth part of it more than enough is known.
              if (pulled > 1000 * given.length) controller.error(new Error('all of it was read'));
              else controller.enqueue(given);
            },
            cancel: () => void cancelled++,
          });
        return { ...document, size: 2 ** 30, body: undefined, open };
      };
      const { ask, told } = openCheck(probed);
      expect((await ask()).healthy).toBe(true);
      expect(told()).toEqual([]);
      // A list once to find the sample, once to ask for it.
      expect(cancelled).toBe(times);
      expect(pulled).toBeLessThan(2 ** 20);
      given = encode([{ name: 'x'.repeat(50_000) }]);
      expect((await ask()).healthy).toBe(false);
      expect(told()).toEqual([expect.stringMatching(leaf)]);
    },
  );
});

describe('H6: why a leaf is unhealthy', () => {
  it('H5: tells every leaf that turns false, with its place in the record and the reason', async () => {
    const { probed } = publish(['a']);
    Object.assign(probed, {
      probeCredentials: async () => false,
      downloads: { probe: () => new Promise(() => {}) },
    });
    probed.search.latest = async () => {
      throw new Error('The index cannot be asked', { cause: new Error('disk I/O error') });
    };
    const { ask, lines } = openCheck(probed);
    const record = await ask();
    expect(lines.map(({ leaf, reason }) => [leaf, reason])).toEqual([
      ['service_data.database_healthy', 'did not come back'],
      ['route_data.package.multi_lookup_healthy', 'The index cannot be asked: disk I/O error'],
      ['route_data.download.ingest_healthy', 'took longer than 2000 ms'],
    ]);
    for (const { leaf } of lines) {
      const value = leaf.split('.').reduce((part: unknown, name) => (part as Record<string, unknown>)[name], record);
      expect(value).toBe(false);
    }
    expect(Object.keys(lines[0] ?? {})).toEqual(['time', 'event', 'leaf', 'reason']);
    expect(lines[0]).toMatchObject({ event: 'unhealthy', time: '2026-05-01T00:00:10.000Z' });
  });

  it('tells at most once a minute of each leaf, and nothing of one that stays false', () => {
    let time = 0;
    const lines: string[] = [];
    const log = createUnhealthyLog(
      ({ leaf, reason }) => lines.push(`${time / 1000} ${leaf} ${reason}`),
      () => new Date(time),
    );
    const at = (seconds: number, reasons: Record<string, string>) => {
      time = seconds * 1000;
      log(new Map(Object.entries(reasons)));
    };
    at(0, { a: 'slow' });
    at(3, { a: 'slow', b: 'away' });
    at(6, {});
    at(9, { a: 'slow again', b: 'away again' });
    at(59, { a: 'slow again' });
    at(60, { a: 'still slow' });
    at(300, { a: 'still slow' });
    at(303, {});
    at(306, { a: 'anew' });
    at(309, {});
    // A clock that was set back.
    at(-900, { a: 'earlier' });
    expect(lines).toEqual(['0 a slow', '3 b away', '60 a still slow', '306 a anew', '-900 a earlier']);
  });
});
