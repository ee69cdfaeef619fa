import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, serveBuild } from '../support/built.ts';
import { generatedRepositories } from '../support/generated.ts';
import { openConnections, openWire } from '../support/wire.ts';
import { DecodingError, isUrl } from './decoding.ts';
import { type Asked, makeQuestions } from './every-client.ts';
import * as older from './older.ts';
import { readPublished } from './published-records.ts';

let server: BuiltServer;
let wire: ReturnType<typeof openWire>;
let asked: Asked;
beforeAll(async () => {
  server = await serveBuild(generatedRepositories());
  wire = openWire(server.port);
  asked = readPublished(server.folder);
});
afterAll(async () => {
  wire.close();
  await server.close();
});

describe('H5 programs that call addresses from before /v2', () => {
  it('decode every answer of a search, over at least 70 questions, and find what is found today', async () => {
    const all = makeQuestions(asked);
    // All that are written by hand, which come last, and some of the others.
    const step = Math.floor((all.length - 12) / 60);
    const questions = [...all.slice(0, -12).filter((_, place) => place % step === 0), ...all.slice(-12)];
    expect(questions.length).toBeGreaterThanOrEqual(70);
    for (const question of questions) {
      const found = await older.sileoSearch(wire, question);
      await older.botSearch(wire, question);
      expect((await older.tweakioSearch(wire, question)).length, question).toBe(found.length);
      const { body } = await wire.get(`/v2/jailbreak/package/search?q=${encodeURIComponent(question)}`);
      const { data } = body as { data: { package: string }[] };
      expect(
        found.map(({ identifier }) => identifier),
        question,
      ).toEqual(data.map(({ package: id }) => id));
    }
    expect(server.faults).toEqual([]);
  });

  it('list repositories, look packages up and check addresses', async () => {
    const slugs = asked.repositories.length;
    expect(await older.zebraRepositories(wire)).toHaveLength(slugs);
    expect(await older.gatherRepositories(wire)).toHaveLength(slugs);
    const ids = [...new Set(asked.packages.map(({ package_id }) => package_id))]
      .filter((id) => /^[A-Za-z0-9.+-]+$/.test(id))
      .slice(0, 300);
    const found = await older.sileoLookup(wire, [...ids, 'not.known']);
    expect(found.map((one) => one.package)).toEqual(ids);
    const uris = asked.repositories.map(({ uri }) => uri);
    const verdicts = [...(await older.sileoCheck(wire, uris)), ...(await older.sileoCheck(wire, uris.slice(0, 1)))];
    expect(verdicts.map(({ repositoryURI }) => repositoryURI)).toEqual([...uris, uris[0]]);
    expect(verdicts.every(({ status }) => status === 'safe')).toBe(true);
    expect(await older.botCheck(wire, 'https://unsafe.test/')).toBe('unsafe');
    expect(await older.botCheck(wire, 'hello')).toMatch(/^(?:un)?safe$/);
  });

  it('are redirected to the icon of each package, as libcephei loads it', async () => {
    const { send, close } = openConnections(server.port);
    for (const { package_id: id } of asked.packages.filter((_, place) => place % 7 === 0)) {
      const target = `/v1/community/packages?id=${encodeURIComponent(id)}&content=packageIcon&redirect=true`;
      const { status, headers } = await send({ method: 'GET', target });
      if ([...id].length > 255) continue;
      expect([target, status]).toEqual([target, 302]);
      expect(isUrl(headers.location ?? ''), headers.location).toBe(true);
    }
    close();
  });

  it('would fail where a repository is more than texts, an address is none, or a word is missing', async () => {
    const answering = (body: unknown) => ({
      get: async () => ({ status: 200, body, size: 1 }),
      post: async () => ({ status: 200, body: {}, size: 1 }),
    });
    const item = { identifier: 'a', latestVersion: '1', repository: { uri: 'https://a.example/' } };
    expect(await older.sileoSearch(answering({ data: [item] }), 'aaaa')).toHaveLength(1);
    for (const wrong of [
      { ...item, repository: { ...item.repository, ranking: 1 } },
      { ...item, packageIcon: '' },
      { ...item, identifier: null },
    ]) {
      await expect(older.sileoSearch(answering({ data: [wrong] }), 'aaaa')).rejects.toThrow(DecodingError);
    }
    const verdict = { repositoryURI: 'https://a.example/', status: 'safe' };
    await expect(older.sileoCheck(answering({ data: verdict }), ['x'])).rejects.toThrow(DecodingError);
    await expect(
      older.zebraRepositories(answering({ data: [{ name: null, uri: 'https://a.example/' }] })),
    ).rejects.toThrow(DecodingError);
  });
});
