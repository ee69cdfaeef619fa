import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createApp } from '../../functions/app.ts';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { createDocuments } from '../../functions/node/document-files.ts';
import { createDownloads } from '../../functions/node/download-counters.ts';
import { readSafetyList, safetyFile } from '../../functions/node/safety-file.ts';
import { collectExamples } from '../../scripts/examples/collect.ts';
import { readService } from '../../scripts/read-service.ts';
import { publishSample } from '../../scripts/sample.ts';
import { readStatistics } from '../../src/catalog/reading.ts';
import { downloadListSchema } from '../../src/contract/envelope.ts';
import { hasExample } from '../../src/contract/examples.ts';
import { olderOperations } from '../../src/contract/older-addresses/operations.ts';
import { indexRepositoriesSchema, unsafeHostsSchema } from '../../src/contract/older-addresses/records.ts';
import { documentPath, type Operation, operations } from '../../src/contract/paths.ts';
import type { LandingRecord } from '../../src/contract/records.ts';
import { composeLanding } from '../../src/documents/descriptions.ts';
import { runBuild } from '../../src/pipeline/build.ts';
import { Progress } from '../../src/pipeline/progress.ts';
import { whileClaimed } from '../../src/publication/owner.ts';
import { page } from '../../src/site/addresses.ts';
import { lintDescription } from '../support/api-description.ts';
import { openBuild, packages } from '../support/catalog.ts';
import { unhurried } from '../support/download-counts.ts';
import { temporaryFolder } from '../support/folder.ts';

const base = 'https://index.test';
const now = () => new Date('2026-05-01T12:00:00.000Z');
const folder = mkdtempSync(path.join(tmpdir(), 'debdex-description-'));
const [out, state] = [path.join(folder, 'dist'), path.join(folder, 'state')];
const search = new CatalogFiles(state);
const downloads = createDownloads(path.join(state, 'downloads.sqlite'), now, unhurried);

interface Described {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: string | number }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example: unknown } } };
  readonly responses: { readonly 200: { readonly content: Record<string, { readonly example?: unknown }> } };
}
let description: { readonly paths: Record<string, Record<string, Described>> };
let answer: (operation: Operation) => Promise<unknown>;

const read = (file: string): string => readFileSync(path.join(out, file), 'utf8');
const describedAs = ({ address, method }: Operation): Described =>
  description.paths[address]?.[method.toLowerCase()] as Described;
const exampleOf = (operation: Operation): unknown =>
  describedAs(operation).responses[200].content['application/json']?.example;

/** Builds the index of the sample. */
const build = async (
  { entries, fetcher }: Awaited<ReturnType<typeof publishSample>>,
  when: () => Date,
): Promise<void> => {
  await runBuild({
    entries,
    fetcher,
    state,
    out,
    base,
    service: readService(),
    version: '1.0.0',
    now: when,
    progress: new Progress(),
    collectExamples,
    site: false,
    source: 'sample',
  });
  await fetcher.close();
};

beforeAll(async () => {
  mkdirSync(state, { recursive: true });
  await build(await whileClaimed(out, state, 'sample', () => publishSample(out, base)), now);
  description = JSON.parse(read(documentPath.openapiJson));
  // What health found is kept for some seconds, so it is looked into anew each time that it is asked about.
  let asked = 0;
  const later = () => new Date(now().getTime() + asked * 10_000);
  const app = createApp({
    documents: createDocuments({ folder: out, memory: 2 ** 20 }),
    search,
    safety: readSafetyList(safetyFile),
    downloads,
    limiter: { take: () => 0 },
    probeCredentials: async () => true,
    now: later,
    publicAddress: () => base,
    report: () => {},
  });
  // As a reader of the description asks, who knows nothing of how it was made.
  answer = async (operation) => {
    const { parameters = [], requestBody } = describedAs(operation);
    const given = parameters.filter(({ example }) => example !== undefined);
    let address = operation.address;
    for (const { name, example } of given.filter((one) => one.in === 'path')) {
      address = address.replace(`{${name}}`, encodeURIComponent(String(example)));
    }
    const query = given
      .filter((one) => one.in === 'query')
      .map(({ name, example }): [string, string] => [name, String(example)]);
    const body = requestBody && JSON.stringify(requestBody.content['application/json'].example);
    const init = body === undefined ? {} : { method: 'POST', body, headers: { 'Content-Type': 'application/json' } };
    let response: Response | undefined;
    // Health is not well for a moment where a machine has much else to do.
    await expect
      .poll(async () => {
        asked += 1;
        response = await app.request(`${base}/v2${address}?${new URLSearchParams(query)}`, init);
        return [address, response.status];
      })
      .toEqual([address, 200]);
    return response?.json();
  };
}, 60_000);
afterAll(async () => {
  search.close();
  await downloads.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Every example of a description that stands beside a schema: bodies and parameters, each with its place. */
const findExamples = (value: unknown, place: readonly string[] = []): [place: string, example: unknown][] => {
  if (typeof value !== 'object' || value === null) return [];
  const here: [string, unknown][] = 'schema' in value && 'example' in value ? [[place.join('/'), value.example]] : [];
  const below = Object.entries(value)
    .filter(([name]) => name !== 'example')
    .flatMap(([name, child]) => findExamples(child, [...place, name.replaceAll('~', '~0').replaceAll('/', '~1')]));
  return [...here, ...below];
};

it('a build publishes what older programs read, and what was downloaded', () => {
  const repositories = indexRepositoriesSchema.parse(JSON.parse(read(olderOperations.indexRepositories.file)));
  expect(repositories.length).toBeGreaterThan(1);
  expect(unsafeHostsSchema.parse(JSON.parse(read(olderOperations.unsafeHosts.file)))).toEqual([]);
  expect(JSON.parse(read(olderOperations.description.file))).toMatchObject({ servers: [{ url: base }] });
  expect(downloadListSchema.parse(JSON.parse(read(documentPath.downloads))).data).toEqual([]);
});

describe('the examples of an index', () => {
  const answersOf = async (...stanzas: Parameters<typeof packages>) => {
    const { catalog } = await openBuild(temporaryFolder(), [{ slug: 'only', packages: packages(...stanzas) }]);
    const statistics = readStatistics(catalog.database, now());
    if (statistics === undefined) throw new Error('the catalog is empty');
    const landing = { ...(JSON.parse(read(documentPath.landing)).data as LandingRecord), statistics };
    const examples = await collectExamples({
      database: catalog.database,
      base,
      landing,
      failures: new Map(),
      seenSince: () => undefined,
    });
    catalog.discard();
    return examples?.answers;
  };

  it('H5: are no list of more packages than a reader looks through', async () => {
    const named = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ Package: `com.example.p${index}`, Name: `Name of ${index}` }));
    expect(await answersOf(...named(20))).toHaveProperty('repositoryPackages');
    const ofLong = await answersOf(...named(21));
    expect(ofLong).not.toHaveProperty('repositoryPackages');
    expect(ofLong).toHaveProperty('package');
  });

  it('H5: are of a package without a name where none has one, as in a distribution', async () => {
    const unnamed = { Package: 'hello', Architecture: 'amd64' };
    const found = async (...stanzas: Parameters<typeof packages>) => {
      const { packageSearch } = (await answersOf(...stanzas)) ?? {};
      return (packageSearch as { data: { package_id: string }[] } | undefined)?.data.map((one) => one.package_id);
    };
    expect(await found(unnamed)).toEqual(['hello']);
    expect(await found(unnamed, { Package: 'zsh', Name: 'The Z Shell' })).toEqual(['zsh']);
  });

  it('H5: are no refusal, of an architecture that nobody can ask for', async () => {
    const answers = await answersOf({ Package: 'com.example.one', Name: 'One', Architecture: 'no such' });
    expect(answers).not.toHaveProperty('packageDependencies');
    expect(answers).toHaveProperty('package');
  });
});

describe('the published description', () => {
  it('H5: shows examples that are valid, for every operation that answers records and for what is sent', () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'description', ...description });
    const found = findExamples(description);
    expect(found.length).toBeGreaterThan(20);
    for (const [place, example] of found) {
      const validate = ajv.compile({ $ref: `description#/${encodeURI(place)}/schema` });
      expect(validate(example), `${place}: ${ajv.errorsText(validate.errors)}`).toBe(true);
    }
    for (const operation of Object.values(operations) as Operation[]) {
      if (operation.schema !== undefined && hasExample(operation))
        expect(exampleOf(operation), operation.address).toBeDefined();
      if (operation.body) expect(describedAs(operation).requestBody?.content['application/json'].example).toBeDefined();
    }
  });

  it('H5: its examples are what this very index answers to the parameters of the examples', async () => {
    for (const operation of Object.values(operations) as Operation[]) {
      if (operation.schema === undefined || !hasExample(operation)) continue;
      // Of two answers with the same content the dates may differ.
      const content = (body: unknown) => ({ ...(body as object), date: '' });
      expect(content(exampleOf(operation)), operation.address).toEqual(content(await answer(operation)));
    }
    for (const { address } of [operations.packageSearch, operations.packageMulti, operations.repositorySearch]) {
      const { data } = exampleOf({ ...operations.packageSearch, address }) as { data: unknown[] };
      expect(data.length, address).toBeGreaterThan(0);
    }
  });

  it('H5: is the same for every reader of YAML, of 1.1 and of 1.2', () => {
    const yaml = read(documentPath.openapiYaml);
    expect(yaml).toMatch(/: "?2026-05-01T12:00:00/);
    expect(parse(yaml)).toEqual(description);
    expect(parse(yaml, { version: '1.1', schema: 'yaml-1.1' })).toEqual(description);
  });

  it('stands beside all that the landing document refers to, without a site too', () => {
    const { reference } = JSON.parse(read(documentPath.landing)).data as { reference: Record<string, string> };
    for (const name of ['docs', 'changes', 'privacy_policy'] as const) {
      const address = reference[name] ?? '';
      expect(address).toMatch(/^https:\/\/index\.test\//);
      expect(read(address.slice(base.length)).length, address).toBeGreaterThan(1000);
    }
    const service = { name: 'Index', privacy_updated: '2026-05-01', contact_email: 'a@index.test', copyright: 'None' };
    const landing = composeLanding({ base, service, version: '1', site: true }, {} as LandingRecord['statistics'], '1');
    expect(landing.reference).toMatchObject({
      docs: base + page.api,
      changes: base + page.changes,
      privacy_policy: base + page.privacy,
    });
  });

  it('passes a third-party linter', async () => {
    // Examples are held against their schemas above, which takes another compiler of schemas as long as all else here.
    const rules = { 'no-invalid-media-type-examples': 'off' } as const;
    expect(await lintDescription(read(documentPath.openapiJson), rules)).toEqual([]);
  });

  it('C13: the same index gives the same description', async () => {
    const before = read(documentPath.openapiJson);
    await build(await publishSample(out, base), () => new Date('2026-05-01T12:30:00.000Z'));
    // Not toBe, which would print both.
    expect(read(documentPath.openapiJson) === before).toBe(true);
  });
});
