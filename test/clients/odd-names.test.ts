import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { words } from '../../clients/typescript/src/documents.ts';
import { Client } from '../../clients/typescript/src/index.ts';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { repositoryWords, wordsBelow } from '../../src/contract/public-addresses.ts';
import { BuiltPublication } from '../support/built-publication.ts';
import { packages } from '../support/catalog.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const odd = [
  'search',
  'multi',
  'foo',
  'foo.json',
  'a,b',
  'a',
  'b',
  'b,',
  '.',
  '..',
  'a/b',
  'a b',
  'A%2cB',
  '雪',
  '=2e',
];

const home = mkdtempSync(path.join(tmpdir(), 'debdex-client-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let server: TestServer;
let search: CatalogFiles;
let client: Client;
beforeAll(async () => {
  const publication = new BuiltPublication(home);
  const stanzas = packages(...odd.map((Package) => ({ Package })));
  await publication.publish(['search', 'one.json', 'one'].map((slug) => ({ slug, packages: stanzas })));
  const { folder, state } = publication;
  search = new CatalogFiles(state);
  const published = { folder, state, write: () => {}, remove: () => {} };
  server = await startTestServer({ published, overrides: { search, older: search.older } });
  client = new Client({ base: server.address, retries: 0 });
});
afterAll(async () => {
  await server.close();
  search.close();
});

describe('the client finds by its name, and nothing else,', () => {
  it.each(odd)('the package %j', async (id) => {
    expect(new Set((await client.package(id)).map((one) => one.package_id))).toEqual(new Set([id]));
    expect((await client.latest([id])).map((one) => one.package_id)).toEqual([id]);
  });

  it.each(['search', 'one.json', 'one'])('the repository %j', async (slug) => {
    expect((await client.repository(slug))?.slug).toBe(slug);
  });

  it('all of them at once, in the order asked', async () => {
    expect((await client.latest([...odd, 'none', 'no,ne'])).map((one) => one.package_id)).toEqual(odd);
  });

  it('none that there is not, whatever word of the service it is', async () => {
    for (const id of ['', 'none.json', 'no,ne', 'healthz', 'x'.repeat(300)])
      expect(await client.package(id), id).toEqual([]);
    for (const slug of ['ranking', 'safety', '', '.', '..', 'none.json', 'x'.repeat(300)]) {
      expect(await client.repository(slug), slug).toBeUndefined();
    }
  });
});

it('the client knows the words that the service has in the place of a name', () => {
  expect(words.package).toEqual(wordsBelow('/jailbreak/package/'));
  expect(words.repository).toEqual(repositoryWords);
});

it('the client asks for however many identifiers and addresses, however long they are', async () => {
  const ids = Array.from({ length: 600 }, (_, index) => `${'雪'.repeat(80)}${index}`);
  expect((await client.latest([...ids, 'foo'])).map((one) => one.package_id)).toEqual(['foo']);
  const uris = Array.from({ length: 600 }, (_, index) => `https://r${index}.example/${','.repeat(index)}`);
  expect(await client.safety(uris)).toEqual(uris.map((uri) => ({ uri, safe: true })));
});

it('the client answers for texts that are empty, also where they would be a whole request', async () => {
  expect(await client.latest([''])).toEqual([]);
  expect(await client.latest([' ', '', 'foo'])).toMatchObject([{ package_id: 'foo' }]);
  expect(await client.safety([''])).toEqual([{ uri: '', safe: false }]);
  const uris = [...Array.from({ length: 250 }, (_, index) => `https://r${index}.example/`), ''];
  expect(await client.safety(uris)).toEqual(uris.map((uri) => ({ uri, safe: uri !== '' })));
});
