import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openFetchHandler } from '../../functions/fetch/handler.ts';
import { readFetchSettings } from '../../functions/fetch/settings.ts';
import { BuiltPublication } from '../support/built-publication.ts';
import { packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { patience } from '../support/patience.ts';

const publish = async (publication: BuiltPublication, text: string) => {
  await publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.a', Description: text }) }]);
};

const open = (publication: BuiltPublication, variables: Record<string, string> = {}) => {
  const { folder: DEBDEX_OUT, state: DEBDEX_STATE } = publication;
  const handler = openFetchHandler(
    readFetchSettings({ DEBDEX_OUT, DEBDEX_STATE, DEBDEX_RATE_LIMIT: '0', ...variables }),
  );
  onTestFinished(handler.close);
  return (target: string, { peer = '192.0.2.1', ...init }: RequestInit & { peer?: string } = {}) =>
    handler.fetch(new Request(`http://localhost${target}`, init), peer);
};

const search = '/v2/jailbreak/package/search?q=com.example';

it('E1: the fetch handler takes up each build that follows', async () => {
  const publication = new BuiltPublication();
  await publish(publication, 'first');
  const ask = open(publication);
  expect(await (await ask(search)).text()).toContain('"description":"first"');
  publication.address = 'https://other.example/below';
  await publish(publication, 'second');
  await vi.waitFor(async () => {
    const answer = await ask(`/below${search}&limit=1&page=2`);
    expect(await answer.text()).toContain('https://other.example/below/v2');
  }, patience);
  for (const target of [search, `/below${search}`, '/below/v2/jailbreak/package/com.example.a']) {
    expect(await (await ask(target)).text(), target).toContain('"description":"second"');
  }
  expect((await ask(`/beyond${search}`)).status).toBe(404);
});

it('E1: the fetch handler limits clients by their own addresses, as many proxies away as it is told', async () => {
  const publication = new BuiltPublication();
  await publish(publication, 'x');
  const statuses = async (ask: ReturnType<typeof open>, from: (at: number) => RequestInit & { peer?: string }) =>
    new Set(await Promise.all(Array.from({ length: 8 }, async (_, at) => (await ask(search, from(at))).status)));
  const forwarded = (at: number) => ({ headers: { 'x-forwarded-for': `198.51.100.${at}` } });
  const limited = { DEBDEX_RATE_LIMIT: '1' };
  expect(await statuses(open(publication, limited), () => ({}))).toEqual(new Set([200, 429]));
  expect(await statuses(open(publication, limited), forwarded)).toEqual(new Set([200, 429]));
  expect(await statuses(open(publication, limited), (at) => ({ peer: `192.0.2.${at}` }))).toEqual(new Set([200]));
  expect(await statuses(open(publication, { ...limited, DEBDEX_TRUSTED_PROXIES: '1' }), forwarded)).toEqual(
    new Set([200]),
  );
});

it('E1: the fetch handler answers older addresses and by a safety list as it is told', async () => {
  const publication = new BuiltPublication();
  await publish(publication, 'x');
  const data = temporaryFolder();
  mkdirSync(data, { recursive: true });
  const entry =
    "- host: bad.example\n  reason: Listed for the tests.\n  date: '2026-05-01'\n  source: https://source.test/\n";
  writeFileSync(path.join(data, 'safety.yaml'), entry);
  const ask = open(publication, { DEBDEX_DATA: data, DEBDEX_NO_OLDER_ADDRESSES: '1' });
  expect((await ask('/v1/community/packages/search?query=com')).status).toBe(404);
  const verdicts = await (await ask('/v2/jailbreak/repository/safety?uris=bad.example,good.example')).json();
  expect(verdicts).toMatchObject({ data: [{ safe: false }, { safe: true }] });
  expect((await open(publication)('/v1/community/packages/search?query=com')).status).toBe(200);
});

it('E1: the fetch handler tells where its safety list calls safe what the build published as unsafe', async () => {
  const publication = new BuiltPublication();
  await publish(publication, 'x');
  const told = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => told.mockRestore());
  writeFileSync(path.join(publication.folder, 'piracy-repositories.json'), '["bad.example"]');
  open(publication);
  const lines = () => told.mock.calls.map(([line]) => JSON.parse(String(line)));
  const lineOf = (host: string) => ({
    event: 'other-safety-list',
    message: expect.stringMatching(`calls ${host} safe, .* of the build. Let DEBDEX_DATA`),
  });
  expect(lines()).toMatchObject([lineOf('bad.example')]);
  // A later build may have another list.
  writeFileSync(path.join(publication.folder, 'piracy-repositories.json'), '["worse.example"]');
  await publish(publication, 'y');
  await expect.poll(lines, patience).toMatchObject([lineOf('bad.example'), lineOf('worse.example')]);
});

it('E1: the fetch handler answers what goes wrong as every host does, and tells of it', async () => {
  const publication = new BuiltPublication();
  await publish(publication, 'x');
  const told = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => told.mockRestore());
  writeFileSync(path.join(publication.state, 'catalog.sqlite'), 'no database');
  const { status, headers } = await open(publication)(search);
  expect([status, headers.get('content-type'), headers.get('retry-after')]).toEqual([503, 'application/json', '5']);
  const fault = JSON.parse(String(told.mock.lastCall?.[0]));
  expect(fault).toMatchObject({ event: 'fault', operation: 'packageSearch' });
  // Why, and not only what could not be answered.
  expect(fault.message).toContain('file is not a database');
});

it('E1: the fetch handler reads addresses as the server does, however a runtime composes them of what came', async () => {
  const publication = new BuiltPublication();
  await publish(publication, 'x');
  const { folder: DEBDEX_OUT, state: DEBDEX_STATE } = publication;
  const handler = openFetchHandler(readFetchSettings({ DEBDEX_OUT, DEBDEX_STATE }));
  onTestFinished(handler.close);
  const ask = async (url: string, host?: string) => {
    const request = new Request('http://localhost/', host === undefined ? {} : { headers: { host } });
    const answer = await handler.fetch(Object.defineProperty(request, 'url', { value: url }), '192.0.2.1');
    return [answer.status, await answer.text()] as const;
  };
  const found = [200, expect.stringContaining('"description":"x"')];
  for (const path of [
    '/v2/./jailbreak/x/../package/com.example.a',
    '/v2/none/%2e%2e/jailbreak/package/com.example.a',
  ]) {
    expect(await ask(`http://a.example:8080${path}`, 'a.example:8080'), path).toEqual(found);
    expect(await ask(path), path).toEqual(found);
  }
  const safety = await ask('http://[::1]/v2/jailbreak/repository/safety?uris=https://a.example/#b', '[::1]');
  expect(safety).toEqual([200, expect.stringContaining('"uri":"https://a.example/#b"')]);
  for (const host of ['a b', 'a.example/v2/livez?', 'a@b', 'a, b', 'a.example:99999']) {
    expect(await ask(`http://${host}/v2/livez`, host), host).toEqual([
      400,
      expect.stringContaining('must name one host'),
    ]);
  }
  const headers = { 'content-type': 'application/json' };
  const posted = new Request('http://localhost/', { method: 'POST', body: '[]', headers });
  const ingest = { url: { value: '/v2/./jailbreak/download/ingest' } };
  expect((await handler.fetch(Object.defineProperties(posted, ingest), '192.0.2.1')).status).toBe(200);
  // No Request can be made so, and runtimes hand them over.
  for (const [method, body] of [
    ['TRACE', null],
    ['get', '[]'],
    ['HEAD', null],
  ] as const) {
    const odd = new Request('http://localhost/', { method: 'POST', body, headers });
    Object.defineProperties(odd, { url: { value: '/v2/./livez' }, method: { value: method } });
    const { status } = await handler.fetch(odd, '192.0.2.1');
    expect(status, method).toBe(method === 'HEAD' ? 200 : 405);
  }
});

it('E1: the fetch handler tells of a build that it cannot take up, and answers from the one before', async () => {
  const publication = new BuiltPublication();
  await publish(publication, 'first');
  const ask = open(publication);
  expect((await ask(search)).status).toBe(200);
  const told: string[] = [];
  const spy = vi.spyOn(console, 'error').mockImplementation((line: string) => void told.push(line));
  onTestFinished(() => spy.mockRestore());
  const catalog = path.join(publication.state, 'catalog.sqlite');
  writeFileSync(`${catalog}.next`, 'no database'.repeat(1000));
  renameSync(`${catalog}.next`, catalog);
  writeFileSync(path.join(publication.state, 'generation.json'), 'another');
  await vi.waitFor(() => expect(told.join()).toContain('file is not a database'), patience);
  expect(await (await ask(search)).text()).toContain('"description":"first"');
});
