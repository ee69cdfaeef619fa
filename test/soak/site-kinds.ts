import { z } from 'zod';
import { indexEntry, nameLength, partFile } from '../../src/results/file-index.ts';
import { packageAddress } from '../../src/results/package-address.ts';
import type { RowCard } from '../../src/results/row.ts';
import { expectThat } from './tally.ts';
import { ask, follow, type Kind, pick, read, type Visitor } from './visitor.ts';

// The site: pages and what they link to, feeds, and the parts of the search index as a browser loads them.

const html = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

const linksOf = (page: string): string[] => {
  const found = [...page.matchAll(/ (?:href|src)="(\/[^"]*)"/g)].map(([, written = '']) =>
    written.replaceAll('&amp;', '&').replace(/#.*/, ''),
  );
  return [...new Set(found)].filter((link) => !/\/search(?:\/|$|\?)/.test(link));
};

const readPage = async (visitor: Visitor, path: string): Promise<string[]> => {
  const { body, headers } = await ask(visitor, path, [200], { headers: html });
  const page = body.toString();
  expectThat(
    headers['content-type']?.startsWith('text/html') === true,
    `${path} is no page: ${headers['content-type']}`,
  );
  expectThat(page.trimEnd().endsWith('</html>'), `${path} is not whole`);
  return linksOf(page);
};

const pages = ['/', '/repository/', '/section/', '/section/tweaks/', '/ranking/', '/status/', '/about/', '/api/'];

const browse = async (visitor: Visitor): Promise<void> => {
  const start = pick([...pages, `/package/${pick(visitor.known.stablePackages)}/`]);
  const links = await readPage(visitor, start);
  expectThat(links.length > 5, `${start} links to next to nothing`);
  for (let turn = 0; turn < 3; turn++) {
    const link = pick(links);
    const isStillNamed = async () => (await readPage(visitor, start)).includes(link);
    const answer = await follow(visitor, link, isStillNamed, html);
    const { 'content-type': type = '' } = answer?.headers ?? {};
    if (answer === undefined || !type.startsWith('text/html') || turn > 0) continue;
    const [next] = linksOf(answer.body.toString()).filter((one) => one.startsWith('/package/'));
    const isLinkStillNamed = async () =>
      (await isStillNamed()) &&
      linksOf((await ask(visitor, link, [200, 404], { headers: html })).body.toString()).includes(next ?? '');
    if (next !== undefined) await follow(visitor, next, isLinkStillNamed, html);
  }
};

const readFeeds = async (visitor: Visitor): Promise<void> => {
  const path = pick(['/feed.atom', '/feed.json', '/sitemap.xml', '/sitemap/1.xml', '/robots.txt', '/opensearch.xml']);
  const { body } = await ask(visitor, path, [200]);
  expectThat(body.length > 20, `${path} is empty`);
  if (path.endsWith('.json')) JSON.parse(body.toString());
  const none = `/nothing-${Math.random()}/`;
  await ask(visitor, none, [404], { headers: Math.random() < 0.5 ? html : {} });
};

const entrySchema = z.object({ rows: z.string(), words: z.array(z.tuple([z.string(), z.string()])) });

const loadSearchIndex = async (visitor: Visitor): Promise<void> => {
  const readEntry = async () => read(`/${indexEntry}`, await ask(visitor, `/${indexEntry}`, [200]), entrySchema);
  const entry = await readEntry();
  const isStillNamed = async () => JSON.stringify(await readEntry()) === JSON.stringify(entry);
  const [, words] = pick(entry.words);
  if ((await follow(visitor, `/${partFile('words', words)}`, isStillNamed)) === undefined) return;
  const name = entry.rows.slice(0, nameLength);
  const rows = await follow(visitor, `/${partFile('rows', name)}`, isStillNamed);
  if (rows === undefined) return;
  const { id } = pick(JSON.parse(rows.body.toString()) as RowCard[]);
  await follow(visitor, `/${packageAddress(id)}`, isStillNamed, html);
};

/** Each kind of request to the site. */
export const siteKinds: readonly Kind[] = [
  { name: 'pages and their links', weight: 6, run: browse },
  { name: 'feeds, sitemaps, no page', weight: 2, run: readFeeds },
  { name: 'search index of the site', weight: 3, run: loadSearchIndex },
];
