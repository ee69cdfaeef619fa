import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type IndexEntry, indexEntry, nameLength, partFile } from '../../src/results/file-index.ts';
import { packageAddress } from '../../src/results/package-address.ts';
import type { RowCard } from '../../src/results/row.ts';
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
  const read = (file: string) => JSON.parse(readFileSync(path.join(out, file), 'utf8'));
  const { words, heads, rows, facets, orders } = read(indexEntry) as IndexEntry;
  const withRows = Array.from({ length: rows.length / (nameLength + 1) }, (_, number) =>
    partFile('rows', rows.substr(number * (nameLength + 1), nameLength)),
  );
  const files = [
    ...words.map(([, name]) => partFile('words', name)),
    ...heads.map(([, name]) => partFile('heads', name)),
    ...[facets, ...Object.values(orders)].map((name) => partFile('values', name)),
    ...withRows,
  ];
  const cards = withRows.filter((file) => existsSync(path.join(out, file))).flatMap((file) => read(file) as RowCard[]);
  return { files, pages: cards.map(({ id }) => `/${packageAddress(id)}`) };
};

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
