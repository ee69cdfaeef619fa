import {
  downloadCountAnswerSchema,
  healthSchema,
  ingestSchema,
  landingSchema,
  packageListSchema,
  packagePageSchema,
  repositoryFindingsSchema,
  repositoryListSchema,
  repositoryPageSchema,
  repositorySchema,
  safetyListSchema,
} from '../../src/contract/envelope.ts';
import { errorSchema, notFoundSchema } from '../../src/contract/errors.ts';
import { ranks } from '../../src/contract/parameters.ts';
import { expectThat } from './tally.ts';
import { ask, follow, type Kind, pathOf, pick, read, type Visitor } from './visitor.ts';

// The read API: lookups, searches, several at once, safety, health and downloads.

const api = '/v2/jailbreak';
const packagePath = (id: string): string => `${api}/package/${encodeURIComponent(id)}`;
const repositoryPath = (slug: string): string => `${api}/repository/${slug}`;

const questions = [
  ...['example', 'exam', 'ex', 'Example 1', '1 example', 'exmaple', 'exampel 2', 'com.example', 'stable', 'stabel 17'],
  ...[
    'ada',
    'ADA EXAMPLE',
    'number 12',
    'zzzzzzzz',
    'éxample',
    '"example"',
    'example AND stable',
    "o'clock",
    '汉化补丁',
  ],
];

const searchPackages = async (visitor: Visitor): Promise<void> => {
  const limit = pick([1, 10, 50, 100, 250]);
  const query = new URLSearchParams({ q: pick(questions), limit: String(limit), page: String(pick([1, 1, 1, 2, 7])) });
  const path = `${api}/package/search?${query}`;
  const search = async () => read(path, await ask(visitor, path, [200]), packagePageSchema);
  const { data, count } = await search();
  expectThat(count === data.length && count <= limit, `${path}: ${data.length} records, and it says ${count}`);
  if (data.length === 0) return;
  const { refs, package_id: id } = pick(data);
  for (const [name, schema] of [
    ['meta', packageListSchema],
    ['repo', repositorySchema],
  ] as const) {
    const named = pathOf(refs[name]);
    const isStillNamed = async () => (await search()).data.some((record) => record.refs[name] === refs[name]);
    const answer = await follow(visitor, named, isStillNamed);
    if (answer === undefined) continue;
    const found = read<{ data: unknown }>(named, answer, schema);
    const isIt = name === 'repo' || (found.data as { package_id: string }[]).every((one) => one.package_id === id);
    expectThat(isIt, `${named} answers another package than ${id}`);
  }
};

const searchRepositories = async (visitor: Visitor): Promise<void> => {
  const path = `${api}/repository/search?${new URLSearchParams({ q: pick(['example', 'exa', 'r1', 'stable', 'none']) })}`;
  const { data, count } = read(path, await ask(visitor, path, [200]), repositoryPageSchema);
  expectThat(count === data.length, `${path}: ${data.length} records, and it says ${count}`);
};

const lookUpStable = async (visitor: Visitor): Promise<void> => {
  const id = pick(visitor.known.stablePackages);
  const path = packagePath(id) + pick(['', '.json']);
  const answer = await ask(visitor, path, [200]);
  const { data } = read(path, answer, packageListSchema);
  expectThat(data.length > 0 && data.every((record) => record.package_id === id), `${path} answers another package`);
  const { etag } = answer.headers;
  expectThat(etag !== undefined, `${path} has no entity tag`);
  if (Math.random() < 0.5) return;
  const headers = { 'if-none-match': etag, 'accept-encoding': answer.headers['content-encoding'] ?? 'identity' };
  // What never changes has the same entity tag whichever build is in force.
  await ask(visitor, path, [304], { headers });
  await ask(visitor, path, [200], { headers: { 'if-none-match': '"other"' } });
  const { body } = await ask(visitor, path, [200], { method: 'HEAD' });
  expectThat(body.length === 0, `HEAD ${path} has a body`);
};

const lookUpPassing = async (visitor: Visitor): Promise<void> => {
  const path = packagePath(pick(visitor.known.passingPackages));
  const answer = await ask(visitor, path, [200, 404]);
  if (answer.status === 404) read(path, answer, notFoundSchema);
  else read(path, answer, packageListSchema);
};

const lookUpUnknown = async (visitor: Visitor): Promise<void> => {
  const name = pick(['com.unknown.x', '__proto__', 'constructor', 'COM.EXAMPLE.STABLE1', '汉化', 'a'.repeat(255)]);
  const path = pick([packagePath, repositoryPath])(encodeURIComponent(name) === name ? name : encodeURIComponent(name));
  read(path, await ask(visitor, path, [404]), notFoundSchema);
};

const lookUpRepository = async (visitor: Visitor): Promise<void> => {
  const slug = pick([visitor.known.stableRepository, ...visitor.known.passingRepositories]);
  const [path, schema] = pick([
    [repositoryPath(slug), repositorySchema],
    [`${repositoryPath(slug)}/packages`, packageListSchema],
    [`${repositoryPath(slug)}/findings`, repositoryFindingsSchema],
  ] as const);
  const answer = await ask(visitor, path, slug === visitor.known.stableRepository ? [200] : [200, 404]);
  read<unknown>(path, answer, answer.status === 404 ? notFoundSchema : schema);
};

const readRanking = async (visitor: Visitor): Promise<void> => {
  const path = `${api}/repository/ranking?rank=${pick(ranks)}`;
  const list = async () => read(path, await ask(visitor, path, [200]), repositoryListSchema);
  const { data } = await list();
  if (data.length === 0) return;
  const { refs, slug } = pick(data);
  const isStillNamed = async () => (await list()).data.some((record) => record.slug === slug);
  const answer = await follow(visitor, pathOf(refs.packages), isStillNamed);
  if (answer === undefined) return;
  const { data: records, count } = read(refs.packages, answer, packageListSchema);
  expectThat(count === records.length, `${refs.packages}: ${records.length} records, and it says ${count}`);
};

const lookUpSeveral = async (visitor: Visitor): Promise<void> => {
  const { stablePackages, passingPackages } = visitor.known;
  const stable = Array.from({ length: pick([1, 3, 40]) }, () => pick(stablePackages));
  const ids = [...stable, 'com.unknown.x', ...Array.from({ length: pick([0, 5, 60]) }, () => pick(passingPackages))];
  const path = `${api}/package/multi?${new URLSearchParams({ ids: ids.join(','), priority: pick(['default', 'bootstrap']) })}`;
  const { data, count } = read(path, await ask(visitor, path, [200]), packageListSchema);
  const found = new Set(data.map((record) => record.package_id));
  expectThat(count === data.length && found.size === count, `${path}: ${count} records of ${found.size} packages`);
  expectThat(stable.every((id) => found.has(id)) && !found.has('com.unknown.x'), `${path} answers other packages`);
  expectThat(
    [...found].every((id) => ids.includes(id)),
    `${path} answers what was not asked for`,
  );
};

const checkSafety = async (visitor: Visitor): Promise<void> => {
  const uris = Array.from({ length: pick([1, 2, 100]) }, (_, index) => `https://host${index}.example/repo`);
  const path = `${api}/repository/safety?${new URLSearchParams({ uris: uris.join(',') })}`;
  const { data } = read(path, await ask(visitor, path, [200]), safetyListSchema);
  expectThat(data.length === uris.length, `${path} answers ${data.length} of ${uris.length} addresses`);
};

const checkHealth = async (visitor: Visitor): Promise<void> => {
  const { data } = read('health', await ask(visitor, '/v2/healthz', [200]), healthSchema);
  expectThat(data.healthy, `health: ${JSON.stringify(data)}`);
};

const reportDownloads = async (visitor: Visitor): Promise<void> => {
  const path = `${api}/download/ingest`;
  const post = (body: string, statuses: readonly number[], type = 'application/json') =>
    ask(visitor, path, statuses, { method: 'POST', body, headers: { 'content-type': type } });
  const downloads = Array.from({ length: pick([1, 10, 100]) }, () => ({
    package_id: pick(visitor.known.stablePackages),
    package_version: '1.0',
  }));
  const report = async () => read(path, await post(JSON.stringify(downloads), [200]), ingestSchema).count;
  const most = new Set(downloads.map(({ package_id }) => package_id)).size;
  const count = await report();
  expectThat(count <= most, `${path} counted ${count} of ${most}`);
  const again = await report();
  expectThat(again === 0, `${path} counted ${again} again`);
  if (Math.random() < 0.7) return;
  read(path, await post('[{"package_id":', [400]), errorSchema);
  read(path, await post('[]', [415], 'text/plain'), errorSchema);
};

const readDownloads = async (visitor: Visitor): Promise<void> => {
  const path = `${api}/download/${encodeURIComponent(pick(visitor.known.stablePackages))}`;
  const { data } = read(path, await ask(visitor, path, [200]), downloadCountAnswerSchema);
  const counted = data.daily.reduce((sum, { count }) => sum + count, 0);
  expectThat(counted <= data.total && data.last_30_days <= counted, `${path} adds up to ${counted} of ${data.total}`);
};

const readLanding = async (visitor: Visitor): Promise<void> => {
  read('/v2/', await ask(visitor, '/v2/', [200]), landingSchema);
  const path = pick(['/v2/openapi.json', '/v2/openapi.yaml']);
  const { body } = await ask(visitor, path, [200]);
  if (path.endsWith('.json')) JSON.parse(body.toString());
};

/** Each kind of request to the read API. */
export const apiKinds: readonly Kind[] = [
  { name: 'search packages', weight: 8, run: searchPackages },
  { name: 'search repositories', weight: 2, run: searchRepositories },
  { name: 'lookup, always there', weight: 8, run: lookUpStable },
  { name: 'lookup, comes and goes', weight: 6, run: lookUpPassing },
  { name: 'lookup, unknown', weight: 3, run: lookUpUnknown },
  { name: 'repository', weight: 4, run: lookUpRepository },
  { name: 'ranking', weight: 3, run: readRanking },
  { name: 'several packages', weight: 4, run: lookUpSeveral },
  { name: 'safety', weight: 2, run: checkSafety },
  { name: 'health', weight: 2, run: checkHealth },
  { name: 'download ingest', weight: 3, run: reportDownloads },
  { name: 'download counts', weight: 2, run: readDownloads },
  { name: 'landing, description', weight: 1, run: readLanding },
];
