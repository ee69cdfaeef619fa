import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import type { ShownBuild } from '../../src/catalog/last-build.ts';
import { type FindingCode, findingTexts } from '../../src/contract/finding-texts.ts';
import { loadBundle, prepareBundle } from '../../src/site/bundle.ts';
import { provideSite } from '../../src/site/context.ts';
import { openSite } from '../../src/site/open-site.ts';
import { lastBuild, type Source, stanza, temporaryFolder, writeCatalog } from './fixture.ts';

const base = 'https://index.example';
const { folder, remove } = temporaryFolder();
afterAll(remove);

type Outcome = ShownBuild['repositories'][number];
const [fresh, stale, , , failed] = lastBuild.repositories as [Outcome, Outcome, Outcome, Outcome, Outcome];
const codes = Object.keys(findingTexts) as FindingCode[];

/** Letters that compress as badly as those of names do, always the same for a text. */
const lettersOf = (text: string): string => hash('sha256', text).slice(0, 10);
/** How thirty builds went, of each repository otherwise. */
const historyOf = (slug: string): string =>
  [...Number.parseInt(lettersOf(slug).slice(0, 8), 16).toString(2).padStart(32, '0')]
    .slice(2)
    .map((digit) => (digit === '0' ? 'u' : 's'))
    .join('');
const outcomeOf = (outcome: Outcome, slug: string): Outcome => {
  return { ...outcome, slug, uri: `https://${slug}.example/`, findings: [], history: historyOf(slug) };
};

it('the status page names the first of many repositories, those in trouble first, and is sent within 30 kB whatever is found', async () => {
  const slugs = Array.from({ length: 460 }, (_, number) => `${lettersOf(`${number}`)}-${number}`);
  const sources = slugs.map((slug, number): Source => {
    const packages = stanza({ Package: `com.example.p${number}` });
    // Eight kinds each, and all kinds together.
    const findings = Array.from({ length: 8 }, (_, at) => ({
      code: codes[(number * 8 + at) % codes.length] as FindingCode,
      count: 1 + (number % 7),
      example: '',
    }));
    const entry = { slug, uri: `https://${slug}.example/`, ranking: 2 };
    const release = `Origin: ${lettersOf(slug)} Repository\n`;
    return { entry, release, packages, at: '2026-11-18T10:00:00.000Z', findings };
  });
  const catalogPath = path.join(folder, 'catalog.sqlite');
  await writeCatalog(catalogPath, sources, base);
  const neverRead = Array.from({ length: 20 }, (_, number) => `gone-${lettersOf(`gone ${number}`)}`);
  const repositories = [
    ...slugs.map((slug, number) => outcomeOf(number % 10 === 9 ? stale : fresh, slug)),
    ...neverRead.map((slug) => outcomeOf(failed, slug)),
  ];
  const service = { name: 'Debdex', contact_email: 'who@index.example' };
  const order = { catalogPath, cacheDir: folder, baseUrl: base, service, safety: [] };
  const catalog = openSite({ ...order, lastBuild: { ...lastBuild, repositories } });
  // The two pages alone: there are a thousand others, with their pictures.
  const { pages, client } = await loadBundle(await prepareBundle(path.join(folder, 'pages')));
  const listed = await pages.listPages();
  const render = async (address: string): Promise<string> => {
    const routeData = listed.find(({ pathname }) => pathname.replace(/\/?$/, '/') === address)?.route;
    if (routeData === undefined) throw new Error(`there is no page ${address}`);
    return (await pages.app.render(new Request(base + address), { routeData })).text();
  };
  const [html, doctor] = [await render('/status/'), await render('/doctor/')];
  provideSite(undefined);
  catalog.close();
  const rows = html.split('<tbody')[1]?.split('<tr').slice(1) ?? [];
  expect(rows).toHaveLength(60);
  expect(rows[45]).toContain('Not renewed');
  expect(rows[46]).toContain('Updated');
  expect(html).toMatch(/and 400 more, all in the list of the <a href="\/doctor\/">Doctor<\/a>/);
  const attention = html.split('id="attention"')[1]?.split('</section>')[0] ?? '';
  expect(attention).toContain('46 repositories, 20 never read');
  expect(attention.split('<li>').slice(1)).toHaveLength(30);
  expect(attention).toMatch(/and 36 more, all in the list of the <a href="\/doctor\/">Doctor<\/a>/);
  for (const slug of [...slugs, ...neverRead]) expect(doctor).toContain(slug);
  // Whatever scripts and styles it names.
  const assets = globSync('**/*.{css,js}', { cwd: client }).filter((file) => html.includes(file));
  const parts = [Buffer.from(html), ...assets.map((file) => readFileSync(path.join(client, file)))];
  const sent = parts.map((part) => gzipSync(part).length);
  expect(sent.reduce((sum, size) => sum + size)).toBeLessThan(30 * 1024);
}, 120_000);
