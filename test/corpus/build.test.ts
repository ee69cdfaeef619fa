import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { readFindings, readStatistics } from '../../src/catalog/reading.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import {
  divergencesSchema,
  downloadListSchema,
  landingSchema,
  packageListSchema,
  repositoryFindingsSchema,
  repositoryListSchema,
  repositorySchema,
  statusSchema,
} from '../../src/contract/envelope.ts';
import { changeListSchema, generationSchema } from '../../src/contract/generation.ts';
import { buildFrom, type CorpusOrigin, hasCorpus, startCorpus } from '../support/corpus.ts';

/** Findings that say a stanza was left out; with the records they must add up to the stanzas read. */
const leftOut = [
  'package-missing',
  'version-missing',
  'architecture-missing',
  'filename-missing',
  'package-malformed',
  'version-unreadable',
  'architecture-malformed',
  'filename-malformed',
  'stanza-duplicate',
  'stanza-oversized',
  'records-too-many',
];

describe.skipIf(!hasCorpus)('the corpus of real repositories', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-corpus-'));
  const out = path.join(folder, 'dist');
  const state = path.join(folder, 'state');
  let origin: CorpusOrigin;

  const build = () => buildFrom(origin.manifest, { state, out });
  const askOrigin = async (address: string) => (await fetch(`http://127.0.0.1:${origin.port}/${address}`)).json();

  beforeAll(async () => {
    origin = await startCorpus(folder);
  });
  afterAll(() => {
    origin?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('builds completely, with every repository fresh', () => {
    const { status, stdout, stderr } = build();
    expect(stderr + stdout).toContain(' 0 stale, 0 failed');
    expect(status).toBe(0);
    process.stdout.write(stdout);
  });

  it('loses no stanza without saying so', () => {
    const database = CatalogFile.openReadOnly(catalogPath(state));
    const statistics = readStatistics(database, new Date());
    const { findings, stanzas } = readFindings(database);
    const lost = findings.filter(({ code }) => leftOut.includes(code)).reduce((sum, { count }) => sum + count, 0);
    expect(stanzas).toBeGreaterThan(2500);
    expect(stanzas).toBe((statistics?.versions ?? 0) + lost);
    process.stdout.write(
      `${statistics?.repositories} repositories, ${stanzas} stanzas read, ${statistics?.versions} records; findings: ${findings
        .map(({ code, count }) => `${count} ${code}`)
        .join(', ')}\n`,
    );
    database.close();
  });

  it('publishes documents that all hold to the contract', () => {
    const root = path.join(out, 'v2');
    const schemas: [RegExp, z.ZodType][] = [
      [/^index\.json$/, landingSchema],
      [/^jailbreak\/package\//, packageListSchema],
      [/^jailbreak\/repository\/ranking\//, repositoryListSchema],
      [/^jailbreak\/repository\/[^/]+\.json$/, repositorySchema],
      [/^jailbreak\/repository\/[^/]+\/findings\.json$/, repositoryFindingsSchema],
      [/^jailbreak\/repository\/[^/]+\/packages\.json$/, packageListSchema],
      [/^downloads\.json$/, downloadListSchema],
      [/^divergences\.json$/, divergencesSchema],
      [/^status\.json$/, statusSchema],
      [/^generation\.json$/, generationSchema],
      [/^changes\/1\.json$/, changeListSchema],
    ];
    let checked = 0;
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = path.join(entry.parentPath, entry.name);
      const document = path.relative(root, file);
      if (document.startsWith('openapi.') || document.endsWith('.zst')) continue;
      const schema = schemas.find(([pattern]) => pattern.test(document))?.[1];
      expect(schema, document).toBeDefined();
      const { error } = schema?.safeParse(JSON.parse(readFileSync(file, 'utf8'))) ?? {};
      expect(error, document).toBeUndefined();
      checked++;
    }
    process.stdout.write(`${checked} documents hold to the contract\n`);
    expect(checked).toBeGreaterThan(1500);
  });

  it('C6: costs one request where Release lists hashes and two where it does not, and writes nothing, when nothing changed', async () => {
    const before = statSync(path.join(out, 'v2', 'index.json'));
    await askOrigin('_reset');
    const { status, stdout } = build();
    expect(status).toBe(0);
    expect(stdout).toContain('71 unchanged');
    expect(stdout).toContain('0 written');
    expect(statSync(path.join(out, 'v2', 'index.json'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    const { byStatus, byRepository } = (await askOrigin('_stats')) as {
      byStatus: Record<string, number>;
      byRepository: Record<string, number>;
    };
    expect(Object.keys(byStatus)).toEqual(['304']);
    expect(Math.max(...Object.values(byRepository))).toBeLessThanOrEqual(2);
    expect(Object.keys(byRepository)).toHaveLength(71);
    const requests = Object.values(byRepository).reduce((sum, count) => sum + count, 0);
    process.stdout.write(`${requests} requests for 71 unchanged repositories\n`);
  });
});
