import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatewayOperations } from '../../src/contract/gateway-schemas.ts';
import { operations } from '../../src/contract/paths.ts';
import { type CostlyRequest, costlyPlaces, fillPlace } from './costly-requests.ts';
import {
  costlyRequests,
  findCosts,
  longestStretch,
  type MeasuredServer,
  startMeasuredServer,
} from './measure-costs.ts';
import { tokens } from './tokens.ts';

let server: MeasuredServer;
beforeAll(async () => {
  server = await startMeasuredServer({ planted: true });
});
afterAll(() => server.stop());

const safety = (uris: string): CostlyRequest => ({
  name: uris.slice(0, 20),
  sent: { method: 'GET', target: `/v2/jailbreak/repository/safety?uris=${uris}` },
});

describe('H7 the search for costly requests', () => {
  it('finds a parser that is planted, and accuses nothing beside it', async () => {
    const requests = [safety('planted'), safety(`planted${'.a'.repeat(4000)}`), safety('a.'.repeat(4000))];
    const { measured, costs } = await findCosts(server, requests, Number.POSITIVE_INFINITY);
    expect(measured).toBe(3);
    expect(costs.map(({ name }) => name)).toEqual([requests[1]?.name]);
    expect(costs[0]?.stretch).toBeGreaterThan(longestStretch);
  });

  it.each([
    ['abc', 11, 'abcabcabc'],
    ['abc', 2, 'abc'],
    ['ü', 5, 'üüüüü'],
    ['', 5, ''],
  ])('fills a part with as many of %j as there is room for in %i bytes, and no more', (token, size, expected) => {
    const place = { name: 'part', size, write: String, fill: (target: string) => ({ method: 'GET', target }) };
    expect(fillPlace('GET /', place, token).sent.target).toBe(expected);
    // In UTF-8 one of them has two bytes.
    const body = fillPlace('GET /', { ...place, encoding: 'utf8' }, token).sent.target;
    expect(body).toBe(token === 'ü' ? 'üü' : expected);
  });

  it('fills every part of every operation with every token, as large as the server takes it', () => {
    const sizes = { target: 9000, header: 500, body: 1600 };
    const subjects = new Map(costlyPlaces(sizes, 1600));
    for (const { method, address } of [...Object.values(operations), ...Object.values(gatewayOperations)]) {
      expect(subjects.has(`${method} /v2${address}`), address).toBe(true);
    }
    // With every token where such a place is met first, and with some of them at each operation that has it too.
    const met = new Set<string>();
    for (const [turn, [subject, places]] of [...subjects].entries()) {
      for (const place of places) {
        const kind = `${place.name} ${place.write}`;
        const isNew = !met.has(kind);
        met.add(kind);
        for (const token of tokens.filter((_, index) => isNew || (index + turn) % 8 === 0)) {
          const { target, headers = {}, body = '' } = fillPlace(subject, place, token).sent;
          const lengths = Object.values(headers).map((text) => text.length);
          const fits = target.length <= sizes.target && Math.max(0, ...lengths) <= sizes.header;
          const isWritten = /^[\x21-\x7e\x80-\xff]+$/.test(target);
          // Tens of thousands, so that an expectation each would cost more than what is expected.
          if (!fits || !isWritten || Buffer.byteLength(body) > sizes.body) {
            expect.fail(`${subject} ${place.name} ${token}`);
          }
        }
      }
    }
    const some = costlyRequests({ ids: ['a'], heavyIds: ['b'], sizes });
    const names = Array.from({ length: 50 }, () => some.next().value?.name);
    expect(new Set(names).size).toBeGreaterThan(40);
  });

  it('finds none among what was costly before', async () => {
    const get = (name: string, target: string, headers: Record<string, string> = {}): CostlyRequest => ({
      name,
      sent: { method: 'GET', target, headers },
    });
    const { target, header } = server.sizes;
    const search = '/v2/jailbreak/package/search';
    const { measured, costs } = await findCosts(
      server,
      [
        safety(`${'a.'.repeat(target / 2 - 100)}com`),
        safety(`a${'.'.repeat(target - 200)}b`),
        safety(`https://repo.hackyouriphone.org/${encodeURIComponent('\u0315\u0316'.repeat(target / 13 - 100))}`),
        get('one parameter', `${search}?q${'&q'.repeat(target / 2 - 100)}`),
        get('names that are not UTF-8', `${search}?q=ab${'&%ff='.repeat(target / 5 - 100)}`),
        get('number signs', `/v2/jailbreak/package/search?q=ab&${'#'.repeat(target - 500)}`),
        get('a path that is not UTF-8', `/v2/healthz/${'xn--%E3%81'.repeat(target / 10 - 100)}`),
        get('a page of the site', `/${'%E3%81!'.repeat(target / 7 - 100)}`),
        get('a sign-in that is not UTF-8', `/v2/login?request=${'%E3%81[['.repeat(target / 8 - 100)}`),
        get('codings', '/v2/', { 'accept-encoding': '*;q=0.5,'.repeat(header / 8 - 100) }),
        get('types', '/', { accept: ','.repeat(header - 500) }),
        get('tags', '/v2/', { 'if-none-match': '"a",'.repeat(header / 4 - 100) }),
        get('blanks within a header', '/v2/none', { 'x-blank': `a${' '.repeat(header - 500)}b` }),
        get('blanks before what no header holds', '/v2/none', { 'x-blank': `${' '.repeat(1500)}\xff` }),
        get('two thousand packages', `/v2/jailbreak/package/multi?ids=${server.ids.slice(0, 2000).join(',')}`),
        get('packages with long texts', `/v2/jailbreak/package/multi?ids=${server.heavyIds.join(',')}`),
        get('a page of long texts', `${search}?q=heavy&limit=250`),
        safety(Array.from({ length: 250 }, () => encodeURIComponent('\ufdfa'.repeat(30))).join(',')),
      ],
      Number.POSITIVE_INFINITY,
    );
    expect(measured).toBe(18);
    expect(costs.map(({ name, stretch }) => `${name}: ${stretch} ms`)).toEqual([]);
  });
});
