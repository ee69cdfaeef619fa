import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { request } from 'undici';
import { decodeEntities } from './links.ts';

const stringsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsOf) : [];
};

interface Described {
  readonly security?: unknown;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: unknown }[];
}

/** The addresses in a description whose parameters all have examples, or that have no parameters. */
const describedAddresses = (description: {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<
    Record<string, { readonly get?: Described; readonly servers?: readonly { readonly url: string }[] }>
  >;
}): string[] =>
  Object.entries(description.paths).flatMap(([address, { get, servers = description.servers }]) => {
    // Operations with credentials only answer people who signed in.
    if (get === undefined || get.security !== undefined) return [];
    const query: string[] = [];
    let asked = address;
    for (const { name, in: place, example } of get.parameters ?? []) {
      if (example === undefined) continue;
      // A file name may continue in subfolders.
      const text = encodeURIComponent(String(example)).replaceAll('%2F', '/');
      if (place === 'path') asked = asked.replace(`{${name}}`, text);
      else query.push(`${name}=${text}`);
    }
    return asked.includes('{') ? [] : [`${servers[0]?.url}${asked}${query.length > 0 ? `?${query.join('&')}` : ''}`];
  });

const fromJson = (file: string, text: string): string[] => {
  const value = JSON.parse(text);
  // The API's own address is a base for others, and has no answer of its own.
  if (file === 'v2/openapi.json') return describedAddresses(value);
  return stringsOf(value).filter((text) => /^https?:/.test(text));
};

const fromHtml = (text: string): string[] => [
  ...[...text.matchAll(/ (?:href|src|action|data-fallback)="([^"]*)"/g)].map(([, one = '']) => decodeEntities(one)),
  // Names and descriptions may look like addresses without being any.
  ...[
    ...text.matchAll(
      /<meta(?![^>]*:?(?:title|description|site_name|alt)")[^>]* content="(?:0; url=)?((?:https?:\/)?\/[^"]*)"/g,
    ),
  ].map(([, one = '']) => decodeEntities(one)),
  ...[...text.matchAll(/curl (?:'|&#39;)([^<]*?)(?:'|&#39;)/g)].map(([, one = '']) => decodeEntities(one)),
];

const fromXml = (text: string): string[] =>
  [...text.matchAll(/(?:href|template)="([^"]*)"|<(?:loc|icon|id|Image[^>]*)>([^<]*)</g)].map(([, one, other]) =>
    decodeEntities(one ?? other ?? '').replace('{searchTerms}', 'words'),
  );

const readers: Readonly<Record<string, (file: string, text: string) => string[]>> = {
  '.json': fromJson,
  '.html': (_, text) => fromHtml(text),
  '.xml': (_, text) => fromXml(text),
  '.atom': (_, text) => fromXml(text),
  '.txt': (_, text) => [...text.matchAll(/^Sitemap: (.*)$/gm)].map(([, one = '']) => one),
};

/**
 * Every local address that a publication names, with the first file that names it: from documents, pages, feeds,
 * sitemaps, the description and its examples, and the name of every published file. They are paths below `base`, with
 * their queries.
 */
export const namedAddresses = (folder: string, base: string): Map<string, string> => {
  const found = new Map<string, string>();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((file) => !file.startsWith('.'));
  for (const file of files) {
    // Netlify's development server looks for files by the address exactly as it was sent.
    const address = `/${file.split('/').map(encodeURIComponent).join('/')}`
      .replaceAll('%2B', '+')
      .replace(/\/index\.html$/, '/');
    if (file !== '404.html') found.set(address, file);
    const read = readers[path.extname(file)];
    for (const named of read?.(file, readFileSync(path.join(folder, file), 'utf8')) ?? []) {
      const url = URL.parse(named, `${base}/${file}`);
      if (url === null || !`${url.href}/`.startsWith(`${base}/`) || !/^[/.]|^https?:/.test(named)) {
        // A page must not name addresses outside of its publication, so this entry has no answer.
        if (file.endsWith('.html') && named.startsWith('/')) found.set(`outside ${named}`, file);
        continue;
      }
      const asked = `${url.pathname}${url.search}`.slice(new URL(base).pathname.replace(/\/$/, '').length) || '/';
      // Left out: addresses of repositories, because package managers look below them; a form, because it adds a query;
      // and the page for missing files, because it has no address.
      if (/^\/sample\/[^/]+\/?$|^\/v2\/jailbreak\/package\/search$|^\/404$/.test(asked) || found.has(asked)) continue;
      found.set(asked, file);
    }
  }
  return found;
};

// Compressing and decompressing each answer would take longer than answering.
const headers = { 'accept-encoding': 'identity' };

/** The status of an answer, once it has arrived completely. */
const statusOf = async (address: string): Promise<number> => {
  // It costs half as much as `fetch`, which follows redirects.
  const { statusCode, body } = await request(address, { headers });
  for await (const _ of body);
  if (statusCode < 300 || statusCode >= 400) return statusCode;
  const led = await fetch(address, { headers });
  await led.arrayBuffer();
  return led.status;
};

/**
 * Requests each address from a host, below a path. Returns those without a successful answer, with the files that name
 * them.
 */
export const unanswered = async (named: ReadonlyMap<string, string>, address: string): Promise<string[]> => {
  const wrong: string[] = [];
  const waiting = [...named];
  const ask = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [asked, file] = next;
      const status = asked.startsWith('/') ? await statusOf(address + asked) : 404;
      if (status !== 200) wrong.push(`${status} ${asked}, named by ${file}`);
    }
  };
  await Promise.all([ask(), ask(), ask(), ask()]);
  return wrong.sort();
};
