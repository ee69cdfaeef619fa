import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readHostsFile } from '../../src/net/hosts-file.ts';
import { Names } from '../../src/net/name-lookups.ts';
import { NetworkError } from '../../src/net/network-error.ts';
import { createResolver } from '../../src/net/resolver.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type NameAnswer, NameServer, unknownName } from '../support/name-server.ts';
import { patience } from '../support/patience.ts';

const servers: NameServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const answers: Record<string, NameAnswer> = {
  '': ['root'],
  'four.example': ['127.0.0.2', '127.0.0.3'],
  'both.example': ['::1', '127.0.0.2'],
  'six.example': ['::1'],
  'many.example': Array.from({ length: 30 }, (_, number) => `127.0.1.${number + 1}`),
  'slow.example': 'silence',
  'broken.example': { error: 2 },
};

const start = async (answer: (name: string) => NameAnswer = (name) => answers[name] ?? unknownName) => {
  const server = await NameServer.start(answer);
  servers.push(server);
  return server;
};

const hostsFile = (text: string): string => {
  const file = path.join(temporaryFolder(), 'hosts');
  writeFileSync(file, text);
  return file;
};

const usual = { lookupsAtOnce: 8, lookupWaitMs: 5000, lookupMs: 5000, offlineMs: 5000 };
const clock = () => AbortSignal.timeout(5000);

describe('a name', () => {
  it('has the addresses of both families that its name servers give, and at most sixteen of each', async () => {
    const server = await start();
    const resolve = createResolver({ servers: [server.address] });
    const find = async (name: string) => (await resolve(name, clock())).map(({ address }) => address);
    expect(await find('four.example')).toEqual(['127.0.0.2', '127.0.0.3']);
    expect(await find('both.example')).toEqual(['127.0.0.2', '::1']);
    expect(await find('SIX.example.')).toEqual(['::1']);
    expect(await find('many.example')).toHaveLength(16);
  });

  it('has the addresses of the hosts file where that names it, and nobody is asked', async () => {
    const server = await start();
    const file = hostsFile('# x\n127.0.0.9 four.example Other.Example # more\n::1 four.example\nnowhere a.example\n');
    const resolve = createResolver({ servers: [server.address], hostsFile: file });
    expect(await resolve('four.example', clock())).toEqual([
      { address: '127.0.0.9', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(await resolve('other.example', clock())).toMatchObject([{ address: '127.0.0.9' }]);
    expect(server.asked).toEqual([]);
    expect([...readHostsFile(file).keys()]).toEqual(['four.example', 'other.example']);
    expect(readHostsFile(path.join(file, 'none')).size).toBe(0);
  });

  it('C1: below localhost is this machine, whatever a name server says', async () => {
    const server = await start(() => ['192.0.2.1']);
    const resolve = createResolver({ servers: [server.address], hostsFile: hostsFile('') });
    for (const name of ['localhost', 'a.localhost.']) {
      expect(await resolve(name, clock())).toMatchObject([{ address: '127.0.0.1' }, { address: '::1' }]);
    }
    expect(server.asked).toEqual([]);
  });

  it('C7: without an address, with a broken name server or a silent one, is the fault of the name', async () => {
    const server = await start();
    const resolve = createResolver({ servers: [server.address], hostsFile: hostsFile('') });
    const dns = { code: 'dns' };
    await expect(resolve('gone.example', clock())).rejects.toMatchObject({ ...dns, transient: false });
    await expect(resolve('broken.example', clock())).rejects.toMatchObject({ ...dns, transient: true });
    await expect(resolve('slow.example', AbortSignal.timeout(100))).rejects.toMatchObject({ ...dns, transient: false });
  });

  it('C7: is not asked for longer than the caller waits', async () => {
    let isSilent = true;
    const server = await start(() => (isSilent ? 'silence' : ['127.0.0.2']));
    const waiting = new AbortController();
    const found = createResolver({ servers: [server.address], hostsFile: hostsFile('') })('a.example', waiting.signal);
    const outcome = found.catch((error) => error);
    await vi.waitFor(() => expect(server.asked.length).toBeGreaterThanOrEqual(2), patience);
    waiting.abort();
    // Asked once more, it would answer.
    isSilent = false;
    expect(await outcome).toMatchObject({ code: 'aborted' });
  });

  it('C7: is not blamed if the name server denies all names, the root too, and is once the server knows that', async () => {
    const known = new Map<string, NameAnswer>();
    const server = await start((name) => known.get(name) ?? unknownName);
    const names = new Names(createResolver({ servers: [server.address], hostsFile: hostsFile('') }), {
      ...usual,
      offlineMs: -1,
    });
    const ask = (name: string) => names.find(name).catch(({ code, message, transient }) => [code, message, transient]);
    const offline = ['no-network', 'the name server of the system denies this name and the root', false];
    expect(await Promise.all(['a.example', 'b.example'].map(ask))).toEqual([offline, offline]);
    known.set('a.example', ['127.0.0.2']);
    // Such a server may know names of its own network, and each is asked for.
    expect(await Promise.all(['b.example', 'a.example'].map(ask))).toMatchObject([offline, [{ address: '127.0.0.2' }]]);
    known.set('', ['root']);
    server.asked.length = 0;
    for (const _ of [1, 2]) expect(await ask('b.example')).toEqual(['dns', 'b.example has no address', false]);
    expect(server.asked.filter((name) => name === '')).toHaveLength(1);
  });

  it('C7: is not blamed either if the name server said nothing of the root before it denied that', async () => {
    let root: NameAnswer = { error: 2 };
    const server = await start((name) => (name === '' ? root : unknownName));
    const resolve = createResolver({ servers: [server.address], hostsFile: hostsFile('') });
    const ask = () => resolve('a.example', clock()).catch(({ code }) => code);
    expect(await ask()).toBe('dns');
    root = unknownName;
    expect(await ask()).toBe('no-network');
  });

  it('C7: waits for a name server that is silent about the root only once in half a minute', async () => {
    const server = await start((name) => (name === '' ? 'silence' : unknownName));
    const resolve = createResolver({ servers: [server.address], hostsFile: hostsFile('') });
    const patient = new AbortController().signal;
    const probes: AbortController[] = [];
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const probe = new AbortController();
      probes.push(probe);
      return probe.signal;
    });
    const now = vi.spyOn(performance, 'now');
    onTestFinished(() => void vi.restoreAllMocks());
    const ask = (name: string) => resolve(name, patient).catch(({ code }) => code);
    const waitFor = async (count: number) => {
      await vi.waitFor(() => expect(server.asked.filter((name) => name === '')).toHaveLength(count), patience);
      probes.at(-1)?.abort();
    };
    const first = ['a.example', 'b.example'].map(ask);
    await waitFor(1);
    expect(await Promise.all(first)).toEqual(['dns', 'dns']);
    expect(await ask('c.example')).toBe('dns');
    expect(probes).toHaveLength(1);
    const later = performance.now() + 30_000;
    now.mockImplementation(() => later);
    const next = ask('d.example');
    await waitFor(2);
    expect(await next).toBe('dns');
  });

  it('C7: is not blamed if no name server answers anything', async () => {
    for (const nothing of ['silence', { error: 2 }] as const) {
      const server = await start(() => nothing);
      const resolve = createResolver({ servers: [server.address], hostsFile: hostsFile('') });
      await expect(resolve('four.example', AbortSignal.timeout(100))).rejects.toMatchObject({ code: 'no-network' });
    }
  });
});

describe('names', () => {
  it('C7: are resolved a few at a time, the same one once, and who has waited too long has met a limit of ours', async () => {
    let most = 0;
    let active = 0;
    const ends: (() => void)[] = [];
    const names = new Names(
      async () => {
        most = Math.max(most, ++active);
        await new Promise<void>((resolve) => ends.push(resolve));
        active--;
        return [{ address: '127.0.0.1', family: 4 }];
      },
      { ...usual, lookupsAtOnce: 2, lookupWaitMs: 50 },
    );
    const found = ['a', 'b', 'a'].map((name) => names.find(name));
    await expect(names.find('c')).rejects.toMatchObject({
      code: 'no-network',
      message: expect.stringContaining('limit lookupWaitMs: 50 milliseconds'),
    });
    expect(active).toBe(2);
    for (const end of ends) end();
    expect(await Promise.all(found)).toHaveLength(3);
    expect(most).toBe(2);
  });

  it('C7: are asked for one at a time where no name server answers, until one does', async () => {
    const asked: string[] = [];
    let answer: (() => void) | undefined;
    let isUp = false;
    const names = new Names(
      async (name) => {
        asked.push(name);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        if (!isUp) throw new NetworkError('no-network', 'silence', { transient: true });
        return [{ address: '127.0.0.1', family: 4 }];
      },
      { ...usual, offlineMs: -1 },
    );
    const ask = (name: string) => names.find(name).catch((error) => [error.code, error.transient]);
    const first = ask('a');
    await vi.waitFor(() => expect(asked).toEqual(['a']), patience);
    answer?.();
    expect(await first).toEqual(['no-network', true]);
    const failing = ask('b');
    await vi.waitFor(() => expect(asked).toEqual(['a', 'b']), patience);
    answer?.();
    // A list whose last entries share a host would wait for each repetition of each.
    expect(await failing).toEqual(['no-network', false]);
    const probe = ask('b');
    expect(await Promise.all(['c', 'd', 'e'].map(ask))).toEqual(Array(3).fill(['no-network', false]));
    await vi.waitFor(() => expect(asked).toEqual(['a', 'b', 'b']), patience);
    isUp = true;
    answer?.();
    expect(await probe).toHaveLength(1);
    const back = [ask('c'), ask('d')];
    await vi.waitFor(() => expect(asked).toEqual(['a', 'b', 'b', 'c', 'd']), patience);
    names.close();
    void back;
  });

  it('C7: are asked for together again where a name server answers, be it that a name does not exist', async () => {
    const asked: string[] = [];
    let failure = new NetworkError('no-network', 'silence', { transient: true });
    const names = new Names(
      async (name) => {
        asked.push(name);
        throw failure;
      },
      { ...usual, offlineMs: -1 },
    );
    const codeOf = (name: string) => names.find(name).catch(({ code }) => code);
    expect(await codeOf('a')).toBe('no-network');
    failure = new NetworkError('dns', 'no such name');
    expect(await codeOf('b')).toBe('dns');
    expect(await Promise.all(['c', 'd'].map(codeOf))).toEqual(['dns', 'dns']);
    expect(asked).toEqual(['a', 'b', 'c', 'd']);
  });

  it('C7: have each a clock of its own, which begins with its turn', async () => {
    const clocks = new Map<number, AbortController>();
    const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
      const clock = new AbortController();
      clocks.set(milliseconds, clock);
      return clock.signal;
    });
    const asked: string[] = [];
    try {
      const names = new Names(
        (name, signal) => {
          asked.push(name);
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
        { ...usual, lookupsAtOnce: 1, lookupWaitMs: 3456, lookupMs: 1234 },
      );
      const [silent, next] = ['a', 'b'].map((name) => names.find(name).catch((error) => error));
      await vi.waitFor(() => expect(asked).toEqual(['a']), patience);
      expect([...clocks.keys()]).toEqual([3456, 1234]);
      const first = clocks.get(1234);
      clocks.delete(1234);
      first?.abort(new NetworkError('dns', 'the clock of the test', { transient: false }));
      expect(await silent).toMatchObject({
        message: 'the clock of the test (limit lookupMs: 1,234 milliseconds)',
        transient: false,
      });
      await vi.waitFor(() => expect(asked).toEqual(['a', 'b']), patience);
      expect(clocks.has(1234)).toBe(true);
      names.close();
      await next;
    } finally {
      spy.mockRestore();
    }
  });

  it('C7: that are slow keep neither the others nor, once they are closed, the process', async () => {
    const server = await start();
    const names = new Names(createResolver({ servers: [server.address], hostsFile: hostsFile('') }), usual);
    const slow = Array.from({ length: 7 }, (_, number) => names.find(`${number}.slow.example`).catch((error) => error));
    answers['0.slow.example'] = 'silence';
    expect(await names.find('four.example')).toHaveLength(2);
    names.close();
    for (const error of await Promise.all(slow)) expect(['aborted', 'dns']).toContain(error.code);
  });
});
