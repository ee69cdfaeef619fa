import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { documentPath } from '../../src/contract/paths.ts';
import type { HealthRecord } from '../../src/contract/records.ts';
import { createSafetyList } from '../../src/safety/safety-list.ts';
import { readPublished } from '../clients/published-records.ts';
import { type BuiltServer, publishBuild, serveBuild } from '../support/built.ts';
import { packages } from '../support/catalog.ts';
import { generatedRepositories } from '../support/generated.ts';

let server: BuiltServer;
let passed = 0;
let credentials: () => Promise<boolean> = async () => true;
let probes = 0;
const reported: unknown[] = [];

beforeAll(async () => {
  server = await serveBuild(generatedRepositories(), {
    onChange: () => {
      try {
        server.search.refresh();
      } catch (error) {
        reported.push(error);
      }
    },
    overrides: {
      now: () => new Date(Date.now() + passed),
      probeCredentials: () => {
        probes++;
        return credentials();
      },
    },
  });
});
afterAll(() => server.close());

/** Asks anew: results are kept for a few seconds of the server's clock. */
const askHealth = async () => {
  passed += 10_000;
  const answer = await fetch(`${server.address}/healthz`);
  const body = (await answer.json()) as { status: string; date: string; data: HealthRecord };
  expect(Object.keys(body)).toEqual(['status', 'date', 'data']);
  return { status: answer.status, phrase: body.status, record: body.data };
};

/** Every leaf and group that is false, by its path. */
const unhealthy = (record: object, place = ''): string[] =>
  Object.entries(record).flatMap(([name, value]) => {
    const path = place === '' ? name : `${place}.${name}`;
    return typeof value === 'object' ? unhealthy(value, path) : value === true ? [] : [path];
  });

/** What is said once exactly this is unhealthy: on a busy machine a probe may be too late once, or a change not noticed yet. */
const untilUnhealthy = async (expected: readonly string[]) => {
  let said = await askHealth();
  const ask = async () => {
    said = await askHealth();
    return unhealthy(said.record).sort();
  };
  if (String(unhealthy(said.record).sort()) !== String(expected)) await expect.poll(ask).toEqual(expected);
  return said;
};

/** Breaks something, sees what turns false, mends it, and sees that all is well again. */
const expectUnhealthy = async (
  expected: string[],
  broken: () => Promise<void> | void,
  mend: () => Promise<void> | void,
) => {
  expect(await untilUnhealthy([])).toMatchObject({ status: 200, phrase: '200 OK' });
  await broken();
  const { status, phrase } = await untilUnhealthy(['healthy', ...expected].sort());
  expect([status, phrase]).toEqual([503, '503 Service Unavailable']);
  await mend();
  expect((await untilUnhealthy([])).status).toBe(200);
};

const inService = (leaf: string) => [`service_data.healthy`, `service_data.${leaf}`];
const inRoutes = (group: string, ...leaves: string[]) =>
  ['healthy', ...leaves].map((leaf) => `route_data.${group}.${leaf}`);

describe('health', () => {
  it('H5: turns false with the search index, and back', async () => {
    const file = catalogPath(server.state);
    await expectUnhealthy(
      inService('search_index_healthy'),
      () => renameSync(file, `${file}.away`),
      () => renameSync(`${file}.away`, file),
    );
  });

  it('H5: turns false with a catalog that cannot be read, which the one before outlives', async () => {
    const file = catalogPath(server.state);
    await expectUnhealthy(
      inService('search_index_healthy'),
      async () => {
        renameSync(file, `${file}.away`);
        writeFileSync(file, 'this is no database'.repeat(1000));
        server.write('../state/generation.json', 'damaged');
        await expect.poll(() => reported.length).toBeGreaterThan(0);
        expect((await fetch(`${server.address}/v2/jailbreak/package/search?q=snow`)).status).toBe(200);
      },
      async () => {
        renameSync(`${file}.away`, file);
        await publishBuild(generatedRepositories(), server, new Date('2026-05-03T00:00:00Z'));
      },
    );
  });

  it.each<[string, () => Promise<boolean>]>([
    ['says no', async () => false],
    ['fails', () => Promise.reject(new Error('away'))],
    [
      'fails at once',
      () => {
        throw new Error('away');
      },
    ],
    ['does not answer', () => new Promise(() => {})],
  ])('H5: turns false with a credential store that %s, and back', async (_how, probe) => {
    await expectUnhealthy(
      inService('database_healthy'),
      () => {
        credentials = probe;
      },
      () => {
        credentials = async () => true;
      },
    );
  });

  const counters = () => path.join(server.state, 'downloads.sqlite');

  it('H5: turns false with counters that cannot be written, and back', async () => {
    const other = new DatabaseSync(counters());
    await expectUnhealthy(
      inRoutes('download', 'ingest_healthy'),
      () => other.exec('BEGIN IMMEDIATE'),
      () => other.exec('ROLLBACK'),
    );
    other.close();
  });

  it('H5: turns false where the counters have no file, and back', async () => {
    const files = ['', '-wal', '-shm'].map((ending) => counters() + ending);
    await expectUnhealthy(
      inRoutes('download', 'ingest_healthy'),
      () => {
        for (const file of files) renameSync(file, `${file}.away`);
        mkdirSync(counters());
      },
      () => rmdirSync(counters()),
    );
  });

  const documents = (...names: string[]) => path.join(server.folder, 'v2', ...names);
  const away = (...names: string[]) => {
    const file = documents(...names);
    return [() => renameSync(file, `${file}.away`), () => renameSync(`${file}.away`, file)] as const;
  };
  /** Both ways of several moves, each as one. */
  const together = (moves: readonly ReturnType<typeof away>[]) =>
    [0, 1].map((way) => () => {
      for (const move of moves) move[way as 0 | 1]();
    }) as [() => void, () => void];

  it('H5: turns false with the documents of packages, and back', async () => {
    await expectUnhealthy(inRoutes('package', 'lookup_healthy'), ...away('jailbreak', 'package'));
  });

  it('H5: turns false with the documents of repositories, and back', async () => {
    const records = readdirSync(documents('jailbreak', 'repository')).filter((name) => name.endsWith('.json'));
    const moves = records.map((name) => away('jailbreak', 'repository', name));
    await expectUnhealthy(inRoutes('repository', 'lookup_healthy'), ...together(moves));
  });

  it('H5: turns false with the lists of their packages, and back', async () => {
    const folders = readdirSync(documents('jailbreak', 'repository')).filter((name) => !name.includes('.'));
    const lists = folders.filter((name) => name !== 'ranking');
    const moves = lists.map((name) => away('jailbreak', 'repository', name, 'packages.json'));
    await expectUnhealthy(inRoutes('repository', 'packages_healthy'), ...together(moves));
  });

  it('H5: turns false with the whole output folder, and back', async () => {
    await expectUnhealthy(
      [...inRoutes('package', 'lookup_healthy'), ...inRoutes('repository', 'lookup_healthy', 'packages_healthy')],
      () => renameSync(server.folder, `${server.folder}.away`),
      () => renameSync(`${server.folder}.away`, server.folder),
    );
  });

  /** A record that is certainly probed: one of the repository with the fewest packages. */
  const sampled = () => {
    const { repositories, packages } = readPublished(server.folder);
    const filled = repositories.filter(({ package_count: count }) => count > 0);
    const [smallest] = filled.sort((one, other) => one.package_count - other.package_count);
    const slug = smallest?.slug ?? '';
    const id = packages.find(({ repository_id: repository }) => repository === slug)?.package_id ?? '';
    return { slug, id };
  };
  const damage = (file: string) => {
    const before = readFileSync(path.join(server.folder, file));
    return [() => server.write(file, before.subarray(0, before.length / 2)), () => server.write(file, before)] as const;
  };

  it('H5: turns false with a damaged document of a package, and back', async () => {
    const { id } = sampled();
    await expectUnhealthy(inRoutes('package', 'lookup_healthy'), ...damage(documentPath.package(id)));
  });

  it('H5: turns false with a damaged document of a repository, and back', async () => {
    const { slug } = sampled();
    await expectUnhealthy(inRoutes('repository', 'lookup_healthy'), ...damage(documentPath.repository(slug)));
  });

  it.each(['*', '4'] as const)('H5: turns false with the ranking %s missing, and back', async (rank) => {
    const file = path.join(server.folder, documentPath.ranking(rank));
    await expectUnhealthy(
      inRoutes('repository', 'lookup_healthy'),
      () => renameSync(file, `${file}.away`),
      () => renameSync(`${file}.away`, file),
    );
  });

  it('H5: turns false with an index that holds nothing, and back', async () => {
    const { search } = server.dependencies;
    const { knows, latest, searchPackages, searchRepositories } = search;
    const none = { records: { count: 0, pieces: [] }, more: false };
    const empty = {
      knows: async () => false,
      latest: async () => none.records,
      searchPackages: async () => none,
      searchRepositories: async () => none,
    };
    await expectUnhealthy(
      [
        ...inService('search_index_healthy'),
        ...inRoutes('package', 'multi_lookup_healthy', 'search_healthy'),
        ...inRoutes('repository', 'search_healthy'),
      ],
      () => void Object.assign(search, empty),
      () => void Object.assign(search, { knows, latest, searchPackages, searchRepositories }),
    );
  });

  /** An index that does not hold this package yet, from the moment on that it is asked for the latest of it or before. */
  const withoutPackage = (id: string, from: 'at once' | 'when asked') => {
    const { search } = server.dependencies;
    const { knows, latest } = search;
    let isGone = from === 'at once';
    Object.assign(search, {
      knows: async (asked: string) => !(isGone && asked === id) && knows.call(search, asked),
      latest: async (...[ids, priority]: Parameters<typeof latest>) => {
        isGone = true;
        return ids[0] === id ? { count: 0, pieces: [] } : latest.call(search, ids, priority);
      },
    });
    return () => {
      Object.assign(search, { knows, latest });
      return isGone;
    };
  };

  it.each(['at once', 'when asked'] as const)(
    'H6: stays true while a build has published a package that the index in force does not hold (%s)',
    async (from) => {
      const mend = withoutPackage(sampled().id, from);
      expect((await askHealth()).status).toBe(200);
      expect(mend()).toBe(true);
    },
  );

  it.each([
    { name: 'a smallest repository has nothing else', others: generatedRepositories(), more: [] },
    { name: 'it is the first of the only repository', others: [], more: [{ Package: 'findable' }] },
    {
      name: 'it is the first of the only repository, whose list is not held in memory',
      others: [],
      more: Array.from({ length: 600 }, (_, number) => ({
        Package: `findable${number}`,
        Description: 'word '.repeat(200),
      })),
    },
  ])('H5: stays true where no question finds a package, since its identifier has no word, and $name', async (index) => {
    const odd = { slug: '0odd', packages: packages({ Package: '+' }, ...index.more) };
    const served = await serveBuild([...index.others, odd]);
    const answer = await fetch(`${served.address}/healthz`);
    expect(unhealthy(((await answer.json()) as { data: HealthRecord }).data)).toEqual([]);
    await served.close();
  });

  it('H5: turns false with a safety list that lists nothing, and back', async () => {
    const { safety } = server.dependencies;
    const { check, listed } = safety;
    const inSafety = inRoutes('repository', 'safety_healthy');
    const mend = () => void Object.assign(safety, { check, listed });
    await expectUnhealthy(inSafety, () => void Object.assign(safety, createSafetyList([])), mend);
    await expectUnhealthy(inSafety, () => void Object.assign(safety, { check: () => false }), mend);
  });

  it('H4 /readyz is about reading alone, and /livez about the process alone', async () => {
    const ask = async (name: string) => {
      passed += 10_000;
      const answer = await fetch(`${server.address}/${name}`);
      const body = (await answer.json()) as { status: string };
      expect([Object.keys(body), Number(body.status.slice(0, 3))]).toEqual([['status', 'date'], answer.status]);
      return answer.status;
    };
    expect([await ask('livez'), await ask('readyz'), await ask('v2/readyz')]).toEqual([200, 200, 200]);
    credentials = async () => false;
    expect([await ask('healthz').catch(() => 503), await ask('readyz')]).toEqual([503, 200]);
    credentials = async () => true;
    renameSync(server.folder, `${server.folder}.away`);
    expect([await ask('livez'), await ask('readyz')]).toEqual([200, 503]);
    renameSync(`${server.folder}.away`, server.folder);
    expect(await ask('readyz')).toBe(200);
  });

  it('H4 /readyz does not wait for a store that is stuck', async () => {
    passed += 10_000;
    let giveUp = (_isWell: boolean): void => {};
    credentials = () => new Promise((resolve) => (giveUp = resolve));
    const answered: string[] = [];
    const ask = (name: string) => fetch(`${server.address}/${name}`).then(() => answered.push(name));
    // Who asks a second time within seconds is told what the first one is.
    const health = ask('healthz');
    await ask('readyz');
    giveUp(true);
    await health;
    credentials = async () => true;
    expect(answered).toEqual(['readyz', 'healthz']);
  });

  it('H6: is probed once, however many ask', async () => {
    passed += 10_000;
    probes = 0;
    await Promise.all(
      Array.from({ length: 50 }, () => fetch(`${server.address}/healthz`).then((answer) => answer.text())),
    );
    expect(probes).toBe(1);
  });

  it('H5: is probed anew where the clock was set back', async () => {
    await askHealth();
    probes = 0;
    // askHealth itself passes ten seconds.
    passed -= 3_600_000;
    await askHealth();
    expect(probes).toBe(1);
    passed += 3_600_000;
  });

  it('H5: without any index is false for all that needs one, and true once there is one', async () => {
    const bare = await serveBuild(generatedRepositories(), { overrides: { now: () => new Date(Date.now() + passed) } });
    const file = catalogPath(bare.state);
    bare.search.close();
    renameSync(file, `${file}.away`);
    const ask = async () => {
      passed += 10_000;
      const { data } = (await (await fetch(`${bare.address}/healthz`)).json()) as { data: HealthRecord };
      return unhealthy(data).filter((place) => !place.endsWith('.healthy') && place !== 'healthy');
    };
    expect(await ask()).toEqual([
      'service_data.search_index_healthy',
      'route_data.package.multi_lookup_healthy',
      'route_data.package.search_healthy',
      'route_data.repository.search_healthy',
    ]);
    const search = await fetch(`${bare.address}/v2/jailbreak/package/search?q=snow`);
    expect([search.status, search.headers.get('retry-after')]).toEqual([503, '5']);
    renameSync(`${file}.away`, file);
    expect(await ask()).toEqual([]);
    await bare.close();
  });
});
