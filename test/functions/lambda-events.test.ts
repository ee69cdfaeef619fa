import { Buffer } from 'node:buffer';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openFetchHandler } from '../../functions/fetch/handler.ts';
import { answerEvents, type LambdaEvent } from '../../functions/fetch/lambda-events.ts';
import { readFetchSettings } from '../../functions/fetch/settings.ts';
import { temporaryFolder } from '../support/folder.ts';

// An event as AWS documents it for payload format 2.0, with what is not read of it.
const event = (
  { http = {}, ...context }: { http?: object; domainName?: string; stage?: string } = {},
  more: Partial<LambdaEvent> = {},
): LambdaEvent => {
  const whole = {
    version: '2.0',
    routeKey: '$default',
    rawPath: '/v2/jailbreak/package/multi',
    rawQueryString: 'ids=a%2Cb&ids=c%20d',
    cookies: ['one=1', 'two=2'],
    headers: { accept: 'text/html, application/json', 'x-forwarded-for': '203.0.113.9, 192.0.2.1' },
    queryStringParameters: { ids: 'a,b,c d' },
    requestContext: {
      accountId: '123456789012',
      apiId: 'abcd',
      domainName: 'abcd.lambda-url.eu-central-1.on.aws',
      domainPrefix: 'abcd',
      http: { method: 'GET', path: '/v2', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'agent', ...http },
      requestId: 'id',
      routeKey: '$default',
      stage: '$default',
      time: '12/Mar/2020:19:03:58 +0000',
      timeEpoch: 1_583_348_638_390,
      ...context,
    },
    isBase64Encoded: false,
  };
  return { ...whole, ...more };
};

/** What the function was asked, and what it answered with `response`. */
const handle = async (sent: LambdaEvent, response = new Response('{}')) => {
  const asked: { request: Request; peer: string; body: string }[] = [];
  const answer = await answerEvents({
    fetch: async (request, peer) => {
      asked.push({ request, peer, body: await request.text() });
      return response;
    },
  })(sent);
  const [only] = asked;
  return { ...only, url: only?.request.url.replace('http://localhost', ''), answer };
};

describe('the function on AWS Lambda', () => {
  it('E1: reads an event as the request that it is of', async () => {
    const { url, request, peer } = await handle(event());
    expect(url).toBe('/v2/jailbreak/package/multi?ids=a%2Cb&ids=c%20d');
    expect(peer).toBe('192.0.2.1');
    expect(Object.fromEntries(request?.headers ?? [])).toEqual({
      accept: 'text/html, application/json',
      cookie: 'one=1; two=2',
      'x-forwarded-for': '203.0.113.9, 192.0.2.1',
    });
    // A bare # begins nothing, a header is bytes, and a named stage may stand alone.
    const odd = await handle(event({}, { rawQueryString: 'uris=a#b,c', headers: { 'x-a': 'é', 'x-b': '→' } }));
    expect(odd.url).toBe('/v2/jailbreak/package/multi?uris=a%23b,c');
    expect(odd.request?.headers.get('x-a')).toBe('é');
    expect(Buffer.from(odd.request?.headers.get('x-b') ?? '', 'latin1').toString()).toBe('→');
    const staged = { rawPath: '/prod', rawQueryString: '' };
    expect((await handle(event({ stage: 'prod', domainName: 'api.example' }, staged))).url).toBe('/');
    const post = event({ http: { method: 'POST' } });
    expect((await handle({ ...post, body: 'ü€' })).body).toBe('ü€');
    const base64 = Buffer.from('[{}]').toString('base64');
    expect((await handle({ ...post, body: base64, isBase64Encoded: true })).body).toBe('[{}]');
    expect((await handle(event({}, { rawQueryString: '', cookies: undefined as never }))).url).toBe(
      '/v2/jailbreak/package/multi',
    );
    // What some send with a GET means nothing.
    for (const method of ['GET', 'HEAD']) {
      expect((await handle(event({ http: { method } }, { body: 'x' }))).answer.statusCode, method).toBe(200);
    }
  });

  it('E1: reads paths as they were asked for, which an HTTP API hands over decoded and below its stage', async () => {
    const pathOf = async (rawPath: string, context: Parameters<typeof event>[0] = {}) =>
      (await handle(event(context, { rawPath, rawQueryString: '' }))).url;
    expect(await pathOf('/v2/a%2Fb%25')).toBe('/v2/a%2Fb%25');
    const api = { domainName: 'abcd.execute-api.eu-central-1.amazonaws.com' };
    expect(await pathOf('/v2/50% ?#é', api)).toBe('/v2/50%25%20%3F%23%C3%A9');
    expect(await pathOf('/live/v2/a', { ...api, stage: 'live' })).toBe('/v2/a');
    expect(await pathOf('/lively/v2/a', { ...api, stage: 'live' })).toBe('/lively/v2/a');
    expect(await pathOf('/v2/a', { domainName: 'index.example.org' })).toBe('/v2/a');
    // Whoever calls the function itself may name no domain; a stage that has no name is no segment.
    expect(await pathOf('/v2/50%', { domainName: undefined as never })).toBe('/v2/50%25');
    expect(await pathOf('/$default/v2/a')).toBe('/$default/v2/a');
  });

  it('E1: answers with text as text, and with everything else in base64', async () => {
    const headers = new Headers({ 'content-type': 'application/json', etag: '"x"' });
    headers.append('set-cookie', 'a=1; Path=/');
    headers.append('set-cookie', 'b=2');
    const { answer } = await handle(event(), new Response('\ufeff{"é":1}', { status: 404, headers }));
    expect(answer).toEqual({
      statusCode: 404,
      headers: { 'content-type': 'application/json', etag: '"x"' },
      cookies: ['a=1; Path=/', 'b=2'],
      body: '\ufeff{"é":1}',
      isBase64Encoded: false,
    });
    const bytes = gzipSync('{}');
    const coded = await handle(event(), new Response(bytes, { headers: { 'content-encoding': 'gzip' } }));
    expect(coded.answer).toMatchObject({ isBase64Encoded: true, body: bytes.toString('base64') });
    const none = await handle(event({ http: { method: 'HEAD' } }), new Response(null, { status: 204 }));
    expect(none.answer).toMatchObject({ statusCode: 204, body: '', isBase64Encoded: false });
  });

  it('E1: says what to do where an answer is larger than Lambda sends, counted as it is sent', async () => {
    const of = async (body: string | Uint8Array<ArrayBuffer>) => (await handle(event(), new Response(body))).answer;
    expect((await of('x'.repeat(5_999_000))).statusCode).toBe(200);
    for (const body of ['x'.repeat(6_000_001), '"'.repeat(3_000_001), new Uint8Array(4_600_000).fill(0xff)]) {
      const { statusCode, body: said, headers } = await of(body);
      expect(statusCode).toBe(503);
      expect(headers['content-type']).toMatch(/json/);
      expect(JSON.parse(said).error).toMatch(
        /ask for pages of it, or accept gzip or br, which may not help with a document/,
      );
    }
  });

  it('E1: refuses what is no request, without asking the function', async () => {
    const { answer, request } = await handle(event({ http: { method: 'TRACE' } }));
    expect([request, answer.statusCode]).toEqual([undefined, 400]);
  });
});

describe('the fetch handler', () => {
  it('E1: reads its settings from the variables of the server, and says what to write', () => {
    expect(readFetchSettings({})).toEqual({
      out: 'dist',
      state: 'state',
      data: undefined,
      rate: 1000,
      olderAddresses: true,
      trustedProxies: 0,
    });
    const all = { DEBDEX_OUT: 'o', DEBDEX_STATE: 's', DEBDEX_DATA: 'd', DEBDEX_RATE_LIMIT: '0' };
    expect(readFetchSettings({ ...all, DEBDEX_NO_OLDER_ADDRESSES: '1', DEBDEX_TRUSTED_PROXIES: '2' })).toEqual({
      out: 'o',
      state: 's',
      data: 'd',
      rate: 0,
      olderAddresses: false,
      trustedProxies: 2,
    });
    const empty = Object.fromEntries([...Object.keys(all), 'DEBDEX_TRUSTED_PROXIES'].map((name) => [name, '']));
    expect(readFetchSettings({ ...empty, DEBDEX_NO_OLDER_ADDRESSES: '' }), 'empty is not set').toEqual(
      readFetchSettings({}),
    );
    expect(readFetchSettings({ DEBDEX_NO_OLDER_ADDRESSES: 'TRUE' }).olderAddresses).toBe(false);
    expect(() => readFetchSettings({ DEBDEX_RATE_LIMIT: '-1' })).toThrow(
      'DEBDEX_RATE_LIMIT must be a whole number, not "-1"',
    );
    expect(() => readFetchSettings({ DEBDEX_NO_OLDER_ADDRESSES: 'maybe' })).toThrow('must be "true" or "false"');
  });

  it('E1: does not start over nothing', () => {
    const folder = temporaryFolder();
    expect(() => openFetchHandler(readFetchSettings({ DEBDEX_OUT: folder }))).toThrow(
      `There is nothing to serve in ${folder}: bring what npm run build made, or set DEBDEX_OUT.`,
    );
  });
});
