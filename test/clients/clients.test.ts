import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, serveBuild } from '../support/built.ts';
import { generatedRepositories } from '../support/generated.ts';
import { openWire } from '../support/wire.ts';
import * as azule from './azule.ts';
import { DecodingError, isUrl } from './decoding.ts';
import { type Asked, makeQuestions, runEveryClient } from './every-client.ts';
import { readPublished } from './published-records.ts';
import * as sileo from './sileo.ts';

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

describe('programs that call this API', () => {
  it('decode every answer, over at least 200 questions', async () => {
    const all = makeQuestions(asked);
    // All that are written by hand, which come last, and of the others every second: kinds take turns, an odd number of them.
    const questions = [...all.slice(0, -12).filter((_, index) => index % 2 === 0), ...all.slice(-12)];
    expect(questions.length).toBeGreaterThanOrEqual(200);
    expect(await runEveryClient(wire, asked, questions)).toBeGreaterThan(1000);
    expect(server.faults).toEqual([]);
  });

  it('reach the privacy policy that the landing document names', async () => {
    const { privacy_policy } = await sileo.launch(wire);
    const answer = await fetch(server.address + new URL(privacy_policy).pathname);
    expect(answer.status).toBe(200);
  });

  it('recognise an unknown package by its message', async () => {
    expect(await azule.findRepositories(wire, 'not.in.any.repository')).toEqual([]);
    expect(await azule.findRepositories(wire, 'odd.bare')).toEqual(['https://odd.example/']);
  });

  it('get addresses alone that RFC 3986 allows, in every record', () => {
    for (const record of asked.packages) {
      const { icon_url, header_url, native_depiction, refs, repository } = record;
      for (const address of [icon_url, header_url, refs.meta, refs.repo, repository.uri]) {
        expect(isUrl(address), `${record.package_id}: ${address}`).toBe(true);
      }
      expect(native_depiction === null || isUrl(native_depiction), record.package_id).toBe(true);
    }
  });

  it('reach every package and repository by the address in its refs', async () => {
    const answers = new Map<string, Promise<string[]>>();
    const ask = async (address: string) => {
      const { pathname } = new URL(address);
      const { status, body } = await wire.get(pathname);
      expect(status, address).toBe(200);
      const { data } = body as { data: { id: string } | { id: string }[] };
      return [data].flat().map(({ id }) => id);
    };
    const askOnce = (address: string) => {
      if (!answers.has(address)) answers.set(address, ask(address));
      return answers.get(address);
    };
    for (const { id, refs, repository_id } of asked.packages) {
      expect(await askOnce(refs.meta), refs.meta).toContain(id);
      expect(await askOnce(refs.repo)).toEqual([repository_id]);
    }
    for (const { refs } of asked.repositories) expect(await askOnce(refs.packages)).not.toEqual([]);
  });
});

describe('a strict decoder', () => {
  const item = {
    package: 'a',
    version: '1',
    repository: { uri: 'https://a.example/', slug: 'a', tier: 1, suite: './', isBootstrap: false },
  };
  const searching = (fields: object, top: object = {}) =>
    sileo.search(
      {
        get: async () => ({
          status: 200,
          body: { message: '200 Successful', count: 1, data: [{ ...item, ...fields }], ...top },
          size: 1,
        }),
        post: async () => ({ status: 200, body: {}, size: 1 }),
      },
      'aa',
    );

  it('takes what it must take', async () => {
    expect((await searching({ icon_url: null, native_depiction: undefined, name: 'A' })).count).toBe(1);
  });

  it.each([
    [{ icon_url: '' }, {}],
    [{ icon_url: 'https://a.example/a b.png' }, {}],
    [{ native_depiction: 'https://a.example/é' }, {}],
    [{ version: null }, {}],
    [{ repository: { ...item.repository, tier: 1.5 } }, {}],
    [{ repository: { ...item.repository, isBootstrap: 'no' } }, {}],
    [{ tags: 'a, b' }, {}],
    [{}, { count: -1 }],
    [{}, { message: undefined }],
    [{}, { data: null }],
  ])('refuses %j with %j', async (fields, top) => {
    await expect(searching(fields, top)).rejects.toThrow(DecodingError);
  });
});
