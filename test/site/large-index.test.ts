import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import type { ShownBuild } from '../../src/catalog/last-build.ts';
import { publishSite } from '../../src/pipeline/site-step.ts';
import { lastBuild, type Source, stanza, temporaryFolder, writeCatalog } from './fixture.ts';

const { folder, remove } = temporaryFolder();
afterAll(remove);

it('the status page names the first sixty of many repositories, those in trouble first, and is sent within 30 kB', async () => {
  const slugs = Array.from({ length: 150 }, (_, number) => `repository-${number}`);
  const sources = slugs.map((slug, number): Source => {
    const packages = stanza({ Package: `com.example.p${number}` });
    const findings = [{ code: 'redirected', count: 1, example: '' }] as const;
    const entry = { slug, uri: `https://${slug}.example/`, ranking: 2 };
    return { entry, release: `Origin: Repository ${number}\n`, packages, at: '2026-11-18T10:00:00.000Z', findings };
  });
  const catalogPath = path.join(folder, 'catalog.sqlite');
  await writeCatalog(catalogPath, sources, 'https://index.example');
  const [fresh, stale] = lastBuild.repositories as [Outcome, Outcome, ...Outcome[]];
  const repositories = slugs.map((slug, number) => ({
    ...(slug === slugs.at(-1) ? stale : fresh),
    ...{ slug, uri: `https://${slug}.example/`, findings: [] },
    // Of each another.
    history: [...number.toString(2).padStart(30, '0')].map((digit) => (digit === '0' ? 'u' : 's')).join(''),
  }));
  const out = path.join(folder, 'out');
  await publishSite({
    ...{ catalogPath, outDir: out, cacheDir: path.join(folder, 'cache'), baseUrl: 'https://index.example' },
    ...{ lastBuild: { ...lastBuild, repositories }, service: { name: 'Debdex', contact_email: 'who@index.example' } },
    safety: [],
  });
  const html = readFileSync(path.join(out, 'status/index.html'), 'utf8');
  const rows = html.split('<tbody')[1]?.split('<tr').slice(1) ?? [];
  expect(rows).toHaveLength(60);
  expect(rows[0]).toContain(`/repository/${slugs.at(-1)}/`);
  expect(html).toMatch(/and 90 more, all in the list of the <a href="\/doctor\/">Doctor<\/a>/);
  expect(readFileSync(path.join(out, 'doctor/index.html'), 'utf8')).toContain(slugs[149]);
  // Whatever scripts and styles it names.
  const assets = globSync('**/*.{css,js}', { cwd: out }).filter((file) => html.includes(file));
  const sent = ['status/index.html', ...assets].map((file) => gzipSync(readFileSync(path.join(out, file))).length);
  expect(sent.reduce((sum, size) => sum + size)).toBeLessThan(30 * 1024);
}, 120_000);

type Outcome = ShownBuild['repositories'][number];
