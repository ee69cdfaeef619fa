import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
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

const entrySchema = z.object({ languages: z.record(z.string(), z.object({ hash: z.string() })) });

const loadSearchIndex = async (visitor: Visitor): Promise<void> => {
  const entryPath = '/pagefind/pagefind-entry.json';
  const readHash = async () => {
    const { languages } = read(entryPath, await ask(visitor, entryPath, [200]), entrySchema);
    return Object.values(languages)[0]?.hash ?? '';
  };
  const hash = await readHash();
  const isStillNamed = async () => (await readHash()) === hash;
  const meta = await follow(visitor, `/pagefind/pagefind.${hash}.pf_meta`, isStillNamed);
  if (meta === undefined) return;
  // Names of parts stand in it as text, among them those of the files that tell of pages.
  const [name] = /unknown_group_[0-9a-f]{7,}/.exec(gunzipSync(meta.body).toString('latin1')) ?? [];
  expectThat(name !== undefined, 'the search index names no parts');
  const fragment = await follow(visitor, `/pagefind/fragment/${name}.pf_fragment`, isStillNamed);
  if (fragment === undefined) return;
  const content = gunzipSync(fragment.body);
  const pages = JSON.parse(content.subarray(content.indexOf('{')).toString()) as Record<string, { url: string }>;
  // What its row shows stands behind it.
  const [address = ''] = pick(Object.values(pages)).url.split('#');
  await follow(visitor, address, isStillNamed, html);
};

/** Each kind of request to the site. */
export const siteKinds: readonly Kind[] = [
  { name: 'pages and their links', weight: 6, run: browse },
  { name: 'feeds, sitemaps, no page', weight: 2, run: readFeeds },
  { name: 'search index of the site', weight: 3, run: loadSearchIndex },
];
