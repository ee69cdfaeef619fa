import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addCredentials, parseCallback } from '../../functions/gateway/callback.ts';
import type { CallbackRules } from '../../functions/gateway/callback-rules.ts';
import { addAccount, post, readJson, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { authenticate, logIn } from '../support/package-manager.ts';

const rules: CallbackRules = {
  schemes: new Set(['sileo:', 'zbra:']),
  addresses: [
    { protocol: 'https:', host: 'app.example' },
    { protocol: 'https:', host: 'other.example:8443', path: '/back' },
    { protocol: 'app:', host: 'done' },
    { protocol: 'app:', host: 'path', path: '/done' },
  ],
  loopback: true,
};

const refused = [
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'javascript://sileo/%0aalert(1)',
  'data:text/html,hello',
  'file:///etc/passwd',
  'blob:https://app.example/1',
  'vbscript:msgbox(1)',
  'about:blank',
  'filesystem:https://app.example/x',
  'view-source:https://app.example/',
  'Sileo://callback',
  'SILEO://callback',
  'HTTPS://app.example/',
  ' sileo://callback',
  '\tsileo://callback',
  '\nsileo://callback',
  '\u0000sileo://callback',
  '\u00a0sileo://callback',
  'sileo://callback ',
  'si\tleo://callback',
  'java\nscript:alert(1)',
  'sileo://callback%0d%0aSet-Cookie:a=b',
  'sileo://callback?x=%0D%0ALocation:https://evil.example',
  'sileo://callback\r\nSet-Cookie: a=b',
  'sileo://callback%00',
  'sileo://user@callback',
  'sileo://user:secret@callback',
  'https://app.example@evil.example/',
  'https://evil.example\\@app.example/',
  'https://@app.example/',
  'https:user@app.example/',
  'https:/user:secret@app.example/',
  'https:\\\\app.example/',
  'sileo:\\\\callback',
  'https://app.example\\.evil.example/',
  'https:app.example.evil.example',
  'sileo://callback#',
  'sileo://callback#auth_token=x',
  'https://app.example/#x',
  'https://app.example.evil.example/',
  'https://evil.example/https://app.example',
  'https://evil.example/?sileo://callback',
  'http://app.example/',
  'https://app.example:444/',
  'https://sub.app.example/',
  'http://127.0.0.1.evil.example/',
  'http://localhost.evil.example/',
  'http://10.0.0.1/',
  'https://127.0.0.1/',
  'http://0.0.0.0/',
  'https:',
  'sileo',
  '//app.example/',
  '/relative',
  'callback',
  '',
  'unknown://callback',
  'sileo2://callback',
  // By scheme, host and path: not another host, a longer one, another letter case or port, or a path beside the named one.
  'app://',
  'app:done',
  'app:/done',
  'app:///done',
  'app://other',
  'app://done.example',
  'app://Done',
  'app://done:80',
  'app://d%6fne',
  'app://path',
  'app://path/',
  'app://path/done/',
  'app://path/done/more',
  'app://path/other/../done2',
  'https://other.example:8443/',
  'https://other.example:8443/back/',
  'https://other.example/back',
  // What makes the application open another address, also where its whole scheme is allowed.
  'sileo://url/https://evil.example/',
  'sileo://URL/https://evil.example/',
  'sileo://u%72l/https://evil.example/',
  'sileo://u%2572l/evil.example',
  'sileo://url?https://evil.example/',
  'sileo://source/https://evil.example',
  'sileo:url/https://evil.example',
  'sileo:///url/evil.example',
  'zbra://sources/add/https://evil.example',
  'zbra://packages/add',
  'zbra://done/https://evil.example',
  'zbra://done/https:evil.example',
  'zbra://done/https%3A%2F%2Fevil.example',
  'zbra://done/https%253A%252F%252Fevil.example',
  'zbra://done/%25252525252525252541',
  'zbra://done//evil.example',
  'zbra://done/%5c%5cevil.example',
  'zbra://done/javascript:alert(1)',
  'app://done/url/evil.example',
  'app://done/a/open/b',
  `sileo://${'a'.repeat(2048)}`,
  'sileo://cällback',
];

const allowed = [
  ['sileo://authentication_callback', 'sileo:'],
  ['sileo:callback', 'sileo:'],
  ['zbra://done?repo=https%3A%2F%2Frepo.example', 'zbra:'],
  ['zbra://done/%2541', 'zbra:'],
  ['app://done', 'app:'],
  ['app://done/anything?url=https://repo.example', 'app:'],
  ['app://path/done?x', 'app:'],
  ['app://path/other/../done', 'app:'],
  ['https://other.example:8443/back?x', 'https://other.example:8443'],
  ['https://app.example/url/https://repo.example', 'https://app.example'],
  ['https://app.example/back', 'https://app.example'],
  ['https://app.example', 'https://app.example'],
  ['http://127.0.0.1:4321/callback', 'http://127.0.0.1:4321'],
  ['http://[::1]:4321/callback', 'http://[::1]:4321'],
  ['http://localhost:4321/', 'http://localhost:4321'],
  // Another notation of the same address: what is checked is what the browser will go to.
  ['http://2130706433:80/', 'http://127.0.0.1'],
] as const;

describe('T1 callbacks', () => {
  for (const callback of refused) {
    test(`T1 refuses ${JSON.stringify(callback.slice(0, 60))}`, () => {
      expect(() => parseCallback(callback, rules)).toThrow(expect.objectContaining({ code: 'callback_refused' }));
    });
  }

  test.each(allowed)('T1 allows %s', (callback, application) => {
    expect(parseCallback(callback, rules).application).toBe(application);
  });
});

describe('T1 the callbacks that are allowed by default', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.close());
  const ask = async (callback: string) =>
    (await post(`${gateway.base}/v2/authenticate`, { callback, udid: 'u', model: 'm' })).status;

  test.each([
    'cydia://url/https://evil.example/',
    'cydia://authentication_success',
    'zbra://authentication_success',
    'installer://add/https://evil.example/',
    'sileo://source/https://evil.example/',
    'sileo://package/com.example',
    'sileo://authentication_success.evil.example',
    'sileo://authentication_success/https://evil.example',
    'sileo:authentication_success',
  ])('T1 %s is refused', async (callback) => {
    expect(await ask(callback)).toBe(400);
  });

  test.each(['sileo://authentication_success', 'sileo://authentication_success?repo=x', 'http://127.0.0.1:1/x'])(
    'T1 %s is allowed',
    async (callback) => {
      expect(await ask(callback)).toBe(200);
    },
  );
});

describe('T1 and T2 through the gateway', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({
      GATEWAY_CALLBACKS:
        'sileo:, zbra:, https://app.example, https://other.example:8443/back app://done app://path/done loopback',
    });
    await addAccount(gateway.store, 'alice');
  });
  afterAll(() => gateway.close());

  test('T1 a refused callback is 400, has no Location and stores nothing', async () => {
    // What the other tests of this gateway left.
    gateway.advance(86_400_000);
    expect(await gateway.store.sweep()).toMatchObject({ more: false });
    for (const callback of refused) {
      const response = await post(`${gateway.base}/v2/authenticate`, { callback, udid: 'u', model: 'm' });
      expect.soft(response.status, callback).toBe(400);
      expect.soft(response.headers.get('location'), callback).toBeNull();
      expect.soft((await readJson(response)).message, callback).toBe('400 Bad Request');
    }
    gateway.advance(86_400_000);
    expect(await gateway.store.sweep()).toMatchObject({ deleted: 0 });
  });

  test('T1 the page trusts the callback of the handle, not the one in its address', async () => {
    const url = new URL(await authenticate(gateway.base, { callback: 'sileo://mine' }));
    expect(url.searchParams.get('callback')).toBe('sileo://mine');
    url.searchParams.set('callback', 'zbra://theirs');
    const answer = await logIn(url.href, 'alice');
    expect(answer.location).toMatch(/^sileo:\/\/mine\?/);
  });

  test.each([
    ['sileo://back', 'sileo://back?'],
    ['sileo://back?', 'sileo://back?'],
    ['sileo://back?a=1&b=%20%26+c&a=2', 'sileo://back?a=1&b=%20%26+c&a=2&'],
    ['sileo://back?a', 'sileo://back?a&'],
    ['sileo://back?a=1&', 'sileo://back?a=1&'],
    ['sileo:back?repo=https://repo.example/?x=y', 'sileo:back?repo=https://repo.example/?x=y&'],
    ['https://app.example/back?token=z', 'https://app.example/back?token=z&'],
  ])('T2 the query of %s survives', async (callback, start) => {
    const answer = await logIn(await authenticate(gateway.base, { callback }), 'alice');
    expect(answer.status).toBe(303);
    expect(answer.location?.startsWith(`${start}auth_token=`)).toBe(true);
    expect(answer.location?.slice(start.length)).toMatch(
      /^auth_token=[\w-]{43}&payment_secret=[\w-]{43}&refresh_token=[\w-]{43}$/,
    );
  });

  test.each([
    'sileo://back?auth_token=x',
    'sileo://back?a=1&payment_secret',
    'sileo://back?refresh_token=',
    'sileo://back?%61uth_token=x',
    'sileo://back?auth%5Ftoken=x',
    'sileo://back?AUTH_TOKEN=x',
    'sileo://back?a=1;auth_token=x',
    'sileo://back?;auth_token=x',
    'sileo://back?auth_token[]=x',
    'sileo://back?auth.token=x',
    'https://app.example/?payment+secret=x',
    'https://app.example/?refresh_token=x&a=b',
  ])('T2 refuses %s, which carries the name of a credential', async (callback) => {
    const response = await post(`${gateway.base}/v2/authenticate`, { callback, udid: 'u', model: 'm' });
    expect(response.status).toBe(400);
    expect(await readJson(response)).toMatchObject({ error: expect.stringContaining('must not carry a parameter') });
  });

  test('T2 credentials are percent-encoded', () => {
    const credentials = { auth_token: 'a&b', payment_secret: 'c=d', refresh_token: 'e#f' };
    expect(addCredentials('sileo://x', credentials)).toBe(
      'sileo://x?auth_token=a%26b&payment_secret=c%3Dd&refresh_token=e%23f',
    );
  });
});
