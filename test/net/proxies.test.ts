import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createFetcher } from '../../src/net/fetcher.ts';
import { type Proxies, readProxies } from '../../src/net/proxies.ts';
import { CertificateAuthority, createCertificate } from '../support/certificates.ts';
import { OriginServer } from '../support/origin-server.ts';
import { type ProxyServer, startProxy } from '../support/proxy-server.ts';

let origin: OriginServer;
let proxy: ProxyServer;

beforeEach(async () => {
  origin = await OriginServer.start();
  proxy = await startProxy(() => origin.port);
});

afterEach(async () => {
  proxy.close();
  await origin.stop();
});

const fetchText = async (
  url: string,
  proxies: Proxies,
  headers?: Record<string, string>,
  allowPrivateNetworks = false,
): Promise<string> => {
  const fetcher = createFetcher({ allowPrivateNetworks, proxies });
  try {
    const { body } = await fetcher.fetch(new URL(url), { maxBytes: 1000, headers });
    let text = '';
    for await (const chunk of body) text += Buffer.from(chunk).toString();
    return text;
  } finally {
    await fetcher.close();
  }
};

describe('a proxy', () => {
  it('is asked in place of the origin, names included, though it stands at a private address itself', async () => {
    origin.put('/Release', 'Origin: test\n');
    const proxies = { http: proxy.address, https: undefined, except: undefined };
    expect(await fetchText('http://repo.example/Release', proxies)).toBe('Origin: test\n');
    expect(proxy.asked.join()).toMatch(/repo\.example/);
    expect(origin.requests.map(({ path }) => path)).toEqual(['/Release']);
  });

  it('C1: is used for https, too, if no other is set for that, and no request bypasses it', async () => {
    for (const [https, asked] of [
      [undefined, ['CONNECT repo.example:443']],
      ['http://127.0.0.1:1', []],
    ] as const) {
      proxy.asked.length = 0;
      const proxies = { http: proxy.address, https, except: undefined };
      await expect(fetchText('https://repo.example/Release', proxies)).rejects.toThrow();
      expect(proxy.asked).toEqual(asked);
    }
  });

  it('C1: opens a tunnel for https, at whose end the certificate of the origin is checked', async () => {
    const authority = new CertificateAuthority();
    const certificate = createCertificate({ names: ['repo.example'], issuer: authority });
    const secure = await OriginServer.start('127.0.0.1', certificate);
    onTestFinished(() => secure.stop());
    secure.put('/Release', 'Origin: test\n');
    const tunnel = await startProxy(() => secure.port);
    onTestFinished(() => tunnel.close());
    const ask = async (host: string, ca?: string) => {
      const proxies = { http: undefined, https: tunnel.address, except: undefined };
      const fetcher = createFetcher({ allowPrivateNetworks: false, proxies, ...(ca === undefined ? {} : { ca }) });
      onTestFinished(() => fetcher.close());
      const { status, discard } = await fetcher.fetch(new URL(`https://${host}/Release`), { maxBytes: 1000 });
      await discard();
      return status;
    };
    expect(await ask('repo.example', authority.cert)).toBe(200);
    await expect(ask('other.example', authority.cert)).rejects.toMatchObject({ code: 'certificate-name' });
    await expect(ask('repo.example')).rejects.toMatchObject({ code: 'certificate-untrusted' });
    expect(tunnel.asked).toEqual(['repo', 'other', 'repo'].map((name) => `CONNECT ${name}.example:443`));
  });

  it('C2: lets what frames a body pass through its tunnel no further than without it', async () => {
    const authority = new CertificateAuthority();
    const wordy = createSecureServer(createCertificate({ names: ['repo.example'], issuer: authority }), (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        const more = () => {
          while (!socket.destroyed && socket.write(`${'1;'.padEnd(15_000, 'x')}\r\n.\r\n`));
        };
        socket.on('drain', more);
        more();
      });
    });
    wordy.listen(0, '127.0.0.1');
    await once(wordy, 'listening');
    onTestFinished(() => void wordy.close());
    const tunnel = await startProxy(() => (wordy.address() as AddressInfo).port);
    onTestFinished(() => tunnel.close());
    const proxies = { http: undefined, https: tunnel.address, except: undefined };
    const fetcher = createFetcher({ allowPrivateNetworks: false, proxies, ca: authority.cert });
    onTestFinished(() => fetcher.close());
    const { body } = await fetcher.fetch(new URL('https://repo.example/Release'), { maxBytes: 50_000 });
    await expect(Array.fromAsync(body)).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('limit framingBytes: 1,048,576 bytes'),
    });
  });

  it('C1: is asked for what the caller says, whatever the environment of the process has come to name', async () => {
    origin.put('/Release', 'Origin: test\n');
    const proxies = { http: proxy.address, https: undefined, except: undefined };
    for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, '*');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await fetchText('http://repo.example/Release', proxies)).toBe('Origin: test\n');
    vi.unstubAllEnvs();
    for (const name of ['HTTP_PROXY', 'http_proxy']) vi.stubEnv(name, 'http://127.0.0.1:1');
    const secure = { http: undefined, https: proxy.address, except: undefined };
    expect(await fetchText(`${origin.uri()}/Release`, secure, {}, true)).toBe('Origin: test\n');
    expect(proxy.asked).toHaveLength(1);
  });

  it('C1: is never asked for an address that says of itself that it is not public', async () => {
    const proxies = { http: proxy.address, https: undefined, except: undefined };
    for (const host of [
      '127.0.0.1',
      '[::1]',
      '10.1.2.3',
      '169.254.169.254',
      '0x7f.1',
      '[::ffff:10.0.0.1]',
      'localhost',
      'a.localhost.',
    ]) {
      await expect(fetchText(`http://${host}/`, proxies), host).rejects.toMatchObject({ code: 'address-refused' });
    }
    origin.break('/Release', { kind: 'redirect', location: 'http://192.168.0.1/' });
    await expect(fetchText('http://repo.example/Release', proxies)).rejects.toMatchObject({ code: 'address-refused' });
    expect(proxy.asked.filter((one) => !one.includes('repo.example'))).toEqual([]);
  });

  it('C1: is left out for hosts that the environment excepts, which the guard holds for in full', async () => {
    const proxies = { http: proxy.address, https: undefined, except: 'localhost,127.0.0.1,.internal' };
    await expect(fetchText(`${origin.uri()}/Release`, proxies)).rejects.toMatchObject({ code: 'address-refused' });
    expect(proxy.asked).toEqual([]);
  });

  it('C7: that cannot be reached, or refuses us, is no fault of an origin; one that finds no origin is', async () => {
    for (const scheme of ['http', 'https']) {
      const proxies = { http: 'http://127.0.0.1:1', https: undefined, except: undefined };
      const failure = fetchText(`${scheme}://repo.example/Release`, proxies);
      const message = expect.stringContaining('the proxy 127.0.0.1:1 cannot be reached');
      await expect(failure, scheme).rejects.toMatchObject({ code: 'no-network', transient: true, message });
    }
    const refusing = createServer((_, response) => void response.writeHead(407).end());
    refusing.on('connect', ({ url = '' }, socket) => {
      socket.end(`HTTP/1.1 ${/^\d+/.exec(url)?.[0]} No\r\nContent-Length: 0\r\n\r\n`);
    });
    refusing.listen(0, '127.0.0.1');
    await once(refusing, 'listening');
    onTestFinished(() => void refusing.close());
    const { port } = refusing.address() as AddressInfo;
    const refused = { code: 'no-network', transient: false };
    const unreached = { code: 'connection', transient: true };
    for (const [url, failed, words] of [
      ['http://repo.example/', refused, '407 for repo.example: it wants a user name and a password'],
      ['https://407.example/', refused, '407 for 407.example: it wants a user name and a password'],
      ['https://403.example/', refused, '403 for 403.example: it refuses the connection'],
      ['https://502.example/', unreached, '502 for 502.example: it did not reach that host'],
    ] as const) {
      const failure = fetchText(url, { http: `http://127.0.0.1:${port}`, https: undefined, except: undefined });
      await expect(failure, url).rejects.toMatchObject({ ...failed, message: `the proxy answers ${words}` });
    }
  });

  it('gets headers as long as an origin may send them', async () => {
    const url = 'http://repo.example/Release';
    const headers = { 'x-giant': 'x'.repeat(24_000) };
    origin.break('/Release', { kind: 'body', body: 'Origin: test\n', headers });
    expect(await fetchText(url, { http: origin.uri(), https: undefined, except: undefined })).toBe('Origin: test\n');
  });

  it('is read from the environment, lower case first, and refused where it is none', () => {
    expect(readProxies({})).toBeUndefined();
    expect(readProxies({ HTTP_PROXY: '', NO_PROXY: '*' })).toBeUndefined();
    expect(readProxies({ HTTP_PROXY: 'http://a:1', http_proxy: 'http://b:2', NO_PROXY: 'c' })).toEqual({
      http: 'http://b:2',
      https: undefined,
      except: 'c',
    });
    expect(readProxies({ HTTP_PROXY: 'http://a:1', NO_PROXY: 'c', no_proxy: 'd' })?.except).toBe('d');
    expect(() => readProxies({ HTTPS_PROXY: 'proxy' })).toThrow(/HTTPS_PROXY must be/);
    expect(() => readProxies({ HTTPS_PROXY: 'ftp://proxy' })).toThrow(RangeError);
  });
});

describe('the headers of one repository', () => {
  it('C6: go to its origin, and not where that redirects to', async () => {
    const other = await OriginServer.start('127.0.0.2', undefined, origin.port);
    other.put('/there', 'there');
    origin.break('/Release', { kind: 'redirect', location: `${other.uri()}/there` });
    const fetcher = createFetcher({ allowPrivateNetworks: ['127.0.0.0/8'] });
    const headers = { 'x-machine': 'iPhone10,1', authorization: 'Bearer secret' };
    await (await fetcher.fetch(new URL(`${origin.uri()}/Release`), { maxBytes: 100, headers })).discard();
    await fetcher.close();
    await expect.poll(() => [origin.requests.length, other.requests.length]).toEqual([1, 1]);
    expect(origin.requests[0]?.headers).toMatchObject(headers);
    expect(other.requests[0]?.headers).not.toHaveProperty('x-machine');
    expect(other.requests[0]?.headers).not.toHaveProperty('authorization');
    await other.stop();
  });
});
