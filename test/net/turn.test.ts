import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { limits } from '../../src/contract/limits.ts';
import { HostQueue } from '../../src/net/host-queue.ts';
import { takeTurn } from '../../src/net/turn.ts';
import { WireMeter } from '../../src/net/wire-meter.ts';

describe('the clocks of a request', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  const begin = () => {
    const few = { ...limits, headersMs: 1000, totalMs: 5000 };
    return takeTurn(new HostQueue(1), new URL('http://one.example/a'), few, few.totalMs);
  };

  it('C2: end it where no headers arrive', async () => {
    const turn = await begin();
    vi.advanceTimersByTime(999);
    expect(turn.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(turn.signal.reason).toMatchObject({ code: 'timeout' });
    turn.end();
  });

  it('C2: give a body that comes after its headers all of the time', async () => {
    const turn = await begin();
    vi.advanceTimersByTime(999);
    turn.headersArrived();
    vi.advanceTimersByTime(4000);
    expect(turn.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(turn.signal.reason).toMatchObject({ code: 'too-slow' });
    turn.end();
  });

  it('C2: stop with it', async () => {
    const turn = await begin();
    turn.end();
    vi.advanceTimersByTime(10_000);
    expect(turn.signal.aborted).toBe(false);
  });
});

it('C2: what arrived on connections that are closed counts for their host', () => {
  const meter = new WireMeter(100);
  const connect = (host: string) => {
    const destroy = vi.fn<(error: Error) => void>();
    const socket = Object.assign(new EventEmitter(), { bytesRead: 0, destroy });
    meter.watch(host, socket as unknown as Socket);
    const receive = (bytes: number) => {
      socket.bytesRead += bytes;
      socket.emit('readable');
      return destroy.mock.calls.map(([error]) => error);
    };
    return { receive, close: () => socket.emit('close') };
  };
  for (const host of ['one', 'other']) meter.request(host);
  const first = connect('one');
  expect(first.receive(60)).toEqual([]);
  first.close();
  expect(connect('other').receive(60)).toEqual([]);
  expect(connect('one').receive(60)).toMatchObject([{ code: 'protocol' }]);
});
