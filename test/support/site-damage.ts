import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { addressesOfPage, decodeEntities } from './links.ts';

// Addresses that the function answers although there is no file.
const computed = /^\/v2\/jailbreak\/(?:package|repository)\/search$/;

/** The path, below the output folder, of the file that answers an address without a host. */
const fileOf = (address: string): string => {
  const file = decodeURIComponent(address.replace(/[?#].*/, '')).slice(1);
  return file === '' || file.endsWith('/') ? `${file}index.html` : file;
};

/** The addresses, without a host, in a file of the site; `base` is the public address. */
const addressesIn = (name: string, text: string, base: string): string[] => {
  if (name.endsWith('.html')) return addressesOfPage(text);
  const quoted = base.replace(/[.\\]/g, '\\$&');
  const found = text.matchAll(new RegExp(`${quoted}(/[^"<#]*)`, 'g'));
  return [...found].map(([, written = '']) => decodeEntities(written));
};

/** The names of all files of the search index, and the addresses of the pages that it finds. */
const readSearchIndex = (out: string): { files: string[]; pages: string[] } => {
  const folder = 'pagefind';
  const entry = JSON.parse(readFileSync(path.join(out, folder, 'pagefind-entry.json'), 'utf8')) as {
    languages: Record<string, { hash: string }>;
  };
  const parts = Map.groupBy(
    ['fragment', 'index', 'filter'].flatMap((kind) =>
      listFolder(path.join(out, folder, kind)).map((file) => `${folder}/${kind}/${file}`),
    ),
    (file) => path.parse(file).name,
  );
  const files: string[] = [];
  const pages: string[] = [];
  for (const { hash } of Object.values(entry.languages)) {
    const meta = `${folder}/pagefind.${hash}.pf_meta`;
    files.push(meta);
    if (!existsSync(path.join(out, meta))) continue;
    // CBOR contains text as it is: the names of pages and of their groups, of chunks of the index and of filters.
    const content = gunzipSync(readFileSync(path.join(out, meta))).toString('latin1');
    const names = new Set([...content.matchAll(/unknown_(?:group_)?[0-9a-f]{7,}/g)].map(([name]) => name));
    const told = new Set<string>();
    for (const name of names) {
      for (const file of (parts.get(name) ?? []).filter((part) => part.endsWith('.pf_fragment'))) {
        const text = gunzipSync(readFileSync(path.join(out, file)));
        const content = JSON.parse(text.subarray(text.indexOf('{')).toString());
        // A single page has a file of its own.
        const fragments: Record<string, { url: string }> = name.includes('group') ? content : { [name]: content };
        for (const [page, { url }] of Object.entries(fragments)) {
          told.add(page);
          pages.push(url);
        }
      }
    }
    for (const name of names) if (!parts.has(name) && !told.has(name)) files.push(`${folder}/*/${name}`);
  }
  return { files, pages };
};

const listFolder = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

const entrances = ['index.html', '404.html', 'sitemap.xml', 'feed.atom', 'feed.json', 'robots.txt', 'opensearch.xml'];

/**
 * What is broken in a published site: the targets that pages, feeds, sitemaps and the search index name, but that do
 * not exist, starting from the addresses where people and programs begin. Empty if there is no site yet.
 */
export const findSiteDamage = (out: string, base: string): string[] => {
  if (!existsSync(path.join(out, 'index.html'))) return [];
  const damage: string[] = [];
  const seen = new Set<string>();
  const waiting: [file: string, namedBy: string][] = entrances.map((file) => [file, 'the site']);
  try {
    const { files, pages } = readSearchIndex(out);
    for (const file of files) waiting.push([file, 'the search index']);
    for (const page of pages) waiting.push([fileOf(page), 'the search index']);
  } catch (error) {
    damage.push(`the search index cannot be read: ${error}`);
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [file, namedBy] = next;
    if (seen.has(file)) continue;
    seen.add(file);
    if (!existsSync(path.join(out, file))) {
      damage.push(`${namedBy} names ${file}`);
      continue;
    }
    if (file.startsWith('v2/') || !/\.(?:html|xml|atom|json)$/.test(file)) continue;
    for (const address of addressesIn(file, readFileSync(path.join(out, file), 'utf8'), base)) {
      if (!computed.test(address.replace(/[?#].*/, ''))) waiting.push([fileOf(address), file]);
    }
  }
  return damage;
};
