import type { Context } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SearchIndex } from '../../functions/dependencies.ts';
import type { Environment } from '../../functions/environment.ts';
import { createLargeAnswers } from '../../functions/http/large-answers.ts';
import { AnswerTooLarge } from '../../src/contract/errors.ts';
import type { PackageRecord } from '../../src/contract/records.ts';
import { type BuiltServer, serveBuild } from '../support/built.ts';
import { packages } from '../support/catalog.ts';
import { fakeSearch, startTestServer } from '../support/test-server.ts';

const from = (clientAddress: string) => ({ env: { clientAddress } }) as Context<Environment>;

/** Answers that are under way until they are told to end. */
const startAnswers = () => {
  const makeAnswer = createLargeAnswers();
  const begun: string[] = [];
  const ends = new Map<string, { end: () => void; fail: () => void }>();
  return {
    begun,
    ask: (client: string, name: string, records = 33) =>
      makeAnswer(from(client), records, () => {
        begun.push(name);
        return new Promise<Response>((resolve, reject) => {
          ends.set(name, { end: () => resolve(new Response(name)), fail: () => reject(new Error(name)) });
        });
      }).then((answer) => answer.text()),
    end: (name: string) => ends.get(name)?.end(),
    fail: (name: string) => ends.get(name)?.fail(),
  };
};

describe('H8 large answers', () => {
  it('are made four at a time, and clients take turns for the next place', async () => {
    const { begun, ask, end } = startAnswers();
    // Of one network, which is one client.
    const many = Array.from({ length: 7 }, (_, number) => ask(`2001:db8::${number}`, `many${number}`));
    const other = ask('192.0.2.2', 'other');
    await expect.poll(() => begun).toEqual(['many0', 'many1', 'many2', 'many3']);
    end('many2');
    expect(await many[2]).toBe('many2');
    await expect.poll(() => begun.slice(4)).toEqual(['many4']);
    // The place that was given on is taken.
    const late = ask('192.0.2.3', 'late');
    end('many0');
    await expect.poll(() => begun.slice(5)).toEqual(['other']);
    for (const name of ['many1', 'many3', 'many4', 'other']) end(name);
    expect(await other).toBe('other');
    await expect.poll(() => begun).toHaveLength(9);
    for (const name of ['many5', 'many6', 'late']) end(name);
    expect(await late).toBe('late');
    expect(await Promise.all(many)).toHaveLength(7);
  });

  it('leave their place when they fail', async () => {
    const { begun, ask, end, fail } = startAnswers();
    const answers = Array.from({ length: 5 }, (_, number) => ask('192.0.2.1', `${number}`).catch(() => 'failed'));
    await expect.poll(() => begun).toHaveLength(4);
    fail('1');
    await expect.poll(() => begun).toHaveLength(5);
    for (const name of begun) end(name);
    expect(await Promise.all(answers)).toEqual(['0', 'failed', '2', '3', '4']);
  });

  it('leave one place each where nobody waits for it', async () => {
    const { begun, ask, end } = startAnswers();
    const answers = Array.from('0123', (name) => ask('192.0.2.1', name));
    await expect.poll(() => begun).toHaveLength(4);
    end('0');
    await answers[0];
    answers.push(...Array.from('45', (name) => ask('192.0.2.1', name)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun.join('')).toBe('01234');
    end('1');
    await expect.poll(() => begun.join('')).toBe('012345');
    for (const name of '2345') end(name);
    expect(await Promise.all(answers)).toHaveLength(6);
  });

  it('do not keep small ones waiting', async () => {
    const { begun, ask, end } = startAnswers();
    const large = Array.from({ length: 5 }, (_, number) => ask('192.0.2.1', `large${number}`));
    const small = ask('192.0.2.1', 'small', 32);
    await expect.poll(() => begun).toContain('small');
    expect(begun).not.toContain('large4');
    end('small');
    expect(await small).toBe('small');
    for (const name of ['large0', 'large1', 'large2', 'large3']) end(name);
    await expect.poll(() => begun).toContain('large4');
    end('large4');
    await Promise.all(large);
  });
});

describe('H6 sorted searches', () => {
  it('wait for their place as large answers do, because all that match are sorted', async () => {
    const search = fakeSearch(['com.example.one']);
    let underWay = 0;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const searchPackages: SearchIndex['searchPackages'] = async (...question) => {
      if (question[4] !== undefined) {
        underWay++;
        await held;
      }
      return search.searchPackages(...question);
    };
    const server = await startTestServer({ overrides: { search: { ...search, searchPackages } } });
    const ask = async (query: string) =>
      (await fetch(`${server.address}/v2/jailbreak/package/search?q=one&limit=1${query}`)).status;
    const sorted = Array.from({ length: 6 }, () => ask('&sort=name'));
    await expect.poll(() => underWay).toBe(4);
    expect(await ask('')).toBe(200);
    expect(underWay).toBe(4);
    release();
    expect(await Promise.all(sorted)).toEqual(sorted.map(() => 200));
    await server.close();
  });
});

describe('H7 answers that are read and encoded in several turns', () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({
    Package: `com.example.many${index}`,
    Description: `${index} ${'ä b '.repeat(index % 200)}`,
  }));
  const long = Array.from({ length: 100 }, (_, index) => ({
    Package: `com.example.long${index}`,
    Name: `Long ${index}`,
    Description: `${index} ${'ü-'.repeat(16_000)}`,
  }));
  let server: BuiltServer;
  beforeAll(async () => {
    server = await serveBuild([
      { slug: 'many', packages: packages(...many) },
      { slug: 'long', packages: packages(...long) },
    ]);
  });
  afterAll(() => server.close());

  const ask = async (target: string, coding = 'identity') => {
    const answer = await fetch(`${server.address}/v2/jailbreak/package/${target}`, {
      headers: { 'accept-encoding': coding },
    });
    return {
      status: answer.status,
      body: (await answer.json()) as { count: number; data: PackageRecord[]; error: string },
    };
  };

  it.each(['identity', 'gzip', 'zstd'])('are whole and in the order asked (%s)', async (coding) => {
    const asked = [...many.slice(0, 900), ...long.slice(0, 99)].map(({ Package }) => Package);
    const { status, body } = await ask(`multi?ids=${['com.example.unknown', ...asked].join(',')}`, coding);
    expect(status).toBe(200);
    expect(body.count).toBe(999);
    expect(body.data.map((record) => record.package)).toEqual(asked);
    const expected = [...many.slice(0, 900), ...long.slice(0, 99)].map(({ Description }) => Description.trim());
    expect(body.data.every(({ description }, index) => description === expected[index])).toBe(true);
  });

  it('are whole where they are pages of a search', async () => {
    const { status, body } = await ask('search?q=long&limit=250');
    expect([status, body.count]).toEqual([200, 100]);
    expect(new Set(body.data.map((record) => record.package)).size).toBe(100);
  });

  it('say to ask for fewer at once where they would be larger than an answer may be', async () => {
    const search: SearchIndex = { ...fakeSearch([]), latest: () => Promise.reject(new AnswerTooLarge()) };
    const other = await startTestServer({ overrides: { search } });
    try {
      const answer = await fetch(`${other.address}/v2/jailbreak/package/multi?ids=a`);
      expect([answer.status, (await answer.json()) as unknown]).toMatchObject([
        400,
        { error: 'The records asked for are larger than 20 MB together: ask for fewer at once' },
      ]);
      expect(await (await fetch(`${other.address}/v2/openapi.json`)).text()).toContain(
        'the records asked for are larger than 20 MB together',
      );
      expect(other.faults).toEqual([]);
    } finally {
      await other.close();
    }
  });
});
