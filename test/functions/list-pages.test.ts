import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packagePageSchema } from '../../src/contract/envelope.ts';
import { type BuiltServer, serveBuild } from '../support/built.ts';
import { base, packages } from '../support/catalog.ts';
import { orderlessPackages } from '../support/long-list.ts';

const count = 1401;
let server: BuiltServer;
beforeAll(async () => {
  server = await serveBuild([
    { slug: 'long', aliases: ['former'], packages: orderlessPackages(count) },
    // Its records lie beside the others, and belong to another list.
    { slug: 'other', packages: packages({ Package: 'com.example.p00007' }, { Package: 'zz' }) },
    {
      slug: 'heavy',
      packages: packages(
        // Of what JSON writes as two characters, so that half as much is read and indexed.
        ...Array.from({ length: 350 }, (_, index) => ({
          Package: `heavy${index}`,
          Description: `${index} ${'"'.repeat(31_000)}`,
        })),
      ),
    },
  ]);
});
afterAll(() => server.close());

const listOf = (slug: string) => `/v2/jailbreak/repository/${slug}/packages`;
const ask = async (target: string) => {
  const answer = await fetch(server.address + target);
  return { answer, text: await answer.text() };
};
const sliceOf = (text: string): string => text.slice(text.indexOf('"data":[') + 8, -2);
const pageOf = (text: string) => packagePageSchema.parse(JSON.parse(text));

/** The texts of the pages from this target on, by the links to the next, and how many records they say they have. */
const walk = async (target: string, key: 'nextPage' | 'previousPage' = 'nextPage') => {
  const texts: string[] = [];
  let counted = 0;
  for (let next: string | undefined = target; next !== undefined; ) {
    const { answer, text } = await ask(next);
    expect(answer.status).toBe(200);
    texts.push(text);
    const { count, refs } = pageOf(text);
    counted += count;
    const link: string | undefined = refs[key];
    if (link !== undefined) expect(link.startsWith(`${base}${listOf('long')}`)).toBe(true);
    next = link?.slice(base.length);
  }
  return { texts, counted };
};

describe('the list of a repository in pages', () => {
  it.each([
    ['?page=1', 2],
    ['?limit=313', 5],
    ['?limit=667', 3],
  ])('H5: is the whole list, its very texts in its order, by the links to the next page (%s)', async (query, pages) => {
    const whole = sliceOf((await ask(listOf('long'))).text);
    const { texts, counted } = await walk(listOf('long') + query);
    expect(texts.length).toBe(pages);
    expect(texts.map(sliceOf).join(',') === whole).toBe(true);
    expect(counted).toBe(count);
    const back = await walk(`${listOf('long')}${query.replace(/&?page=1/, '')}&page=${pages}`, 'previousPage');
    expect(back.texts.reverse().map(sliceOf)).toEqual(texts.map(sliceOf));
  });

  it('H5: cuts any part out of it, also between the versions of one package', async () => {
    const { data } = JSON.parse((await ask(listOf('long'))).text) as { data: unknown[] };
    for (let limit = 1; limit <= 1000; limit = limit * 3 + 1) {
      for (const page of [1, 2, 3, Math.ceil(count / limit), Math.ceil(count / limit) + 1]) {
        const found = JSON.parse((await ask(`${listOf('long')}?limit=${limit}&page=${page}`)).text);
        expect(found.data, `${limit} ${page}`).toEqual(data.slice((page - 1) * limit, page * limit));
        expect(Object.keys(found)).toEqual(['message', 'date', 'refs', 'count', 'data']);
        expect('nextPage' in found.refs).toBe(page * limit < count);
        expect('previousPage' in found.refs).toBe(page > 1);
      }
    }
  });

  it('H5: is empty past its end, however far, and leads back to its last page', async () => {
    for (const [query, last] of [
      [`limit=1&page=${count + 1}`, count],
      [`limit=1&page=${count + 7}`, count],
      ['page=3', 2],
      [`page=${'9'.repeat(30)}`, 2],
      ['limit=1000&page=9007199254740991', 2],
    ] as const) {
      const { answer, text } = await ask(`${listOf('long')}?${query}`);
      expect(answer.status, query).toBe(200);
      expect(pageOf(text)).toMatchObject({ count: 0, data: [] });
      expect(pageOf(text).refs, query).toEqual({ previousPage: expect.stringMatching(`&page=${last}$`) });
    }
  });

  it('H5: keeps its bounds, and says which', async () => {
    const limit = "Query parameter 'limit' must be an integer between 1 and 1000";
    const page = "Query parameter 'page' must be an integer of at least 1";
    for (const [query, error] of [
      ['limit=0', limit],
      ['limit=1001', limit],
      ['limit=', limit],
      ['limit=1e2', limit],
      ['limit=x&page=x', limit],
      ['page=0', page],
      ['page=-1', page],
      ['limit=10&page=', page],
      ['limit=1&limit=1', "Query parameter 'limit' must be given once"],
      ['page=%ff', "Query parameter 'page' must be percent-encoded UTF-8"],
    ]) {
      const { answer, text } = await ask(`${listOf('long')}?${query}`);
      expect([answer.status, JSON.parse(text).error], query).toEqual([400, error]);
    }
  });

  it('H5: knows what has a list, and nothing else; a former slug has none', async () => {
    for (const slug of ['none', 'former', 'LONG', 'long%20', 'heavy.json']) {
      for (const target of [listOf(slug), `${listOf(slug)}?page=1`]) {
        expect((await ask(target)).answer.status, target).toBe(404);
      }
    }
    const { text } = await ask(`/jailbreak/repository/other/packages?limit=1`);
    expect(pageOf(text).refs).toEqual({ nextPage: `${base}${listOf('other')}?limit=1&page=2` });
    expect(pageOf(text).data.map(({ package_id: id }) => id)).toEqual(['com.example.p00007']);
  });

  it('H5: is the whole document without these parameters, whatever others there are', async () => {
    const { answer, text } = await ask(listOf('other'));
    const same = await ask(`${listOf('other')}?q=1&Limit=1&listLimit=1`);
    expect([same.text, same.answer.headers.get('etag')]).toEqual([text, answer.headers.get('etag')]);
    expect(answer.headers.get('etag')).not.toBeNull();
    const paged = await ask(`${listOf('other')}?limit=1`);
    expect(paged.answer.headers.get('etag')).toBeNull();
    const search = await ask('/v2/jailbreak/package/search?q=com.example');
    for (const name of ['cache-control', 'content-type', 'access-control-allow-origin', 'vary']) {
      expect(paged.answer.headers.get(name), name).toBe(search.answer.headers.get(name));
    }
    const head = await fetch(`${server.address}${listOf('other')}?limit=1`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('H5: answers the published pages of a large list at their addresses, and no others', async () => {
    const computed = await ask(`${listOf('long')}?page=2`);
    const { answer, text } = await ask(`${listOf('long')}/2`);
    expect([answer.status, sliceOf(text) === sliceOf(computed.text)]).toEqual([200, true]);
    expect(answer.headers.get('etag')).toBe((await ask(`${listOf('long')}/2.json`)).answer.headers.get('etag'));
    expect((await walk(`${listOf('long')}/1`)).texts).toHaveLength(2);
    for (const target of [
      'long/packages/3',
      'long/packages/0',
      'long/packages/02',
      'long/packages/x',
      'other/packages/1',
    ]) {
      expect((await ask(`/v2/jailbreak/repository/${target}`)).answer.status, target).toBe(404);
    }
  });

  it('H8: has 20 MB at most, and says to ask for fewer at once', async () => {
    const { answer, text } = await ask(`${listOf('heavy')}?page=1`);
    expect([answer.status, JSON.parse(text).error]).toEqual([
      400,
      'The records asked for are larger than 20 MB together: ask for fewer at once',
    ]);
    expect((await ask(`${listOf('heavy')}?limit=50&page=7`)).answer.status).toBe(200);
  });
});

it('H9: pages of a list are held to the rate of what is computed, and the whole list is not', async () => {
  let left = 1;
  const limited = await serveBuild([{ slug: 'long', packages: packages({ Package: 'a' }) }], {
    overrides: { limiter: { take: () => (left-- > 0 ? 0 : 7) } },
  });
  try {
    const statusOf = async (query: string) => (await fetch(`${limited.address}${listOf('long')}${query}`)).status;
    expect([await statusOf(''), await statusOf('?page=1'), await statusOf('?page=2'), await statusOf('')]).toEqual([
      200, 200, 429, 200,
    ]);
  } finally {
    await limited.close();
  }
});
