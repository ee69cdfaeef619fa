import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseLimits } from '../../functions/node/limits.ts';
import { createUnreadAnswers } from '../../functions/node/unread-answers.ts';

describe('H8 the time of a reader', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const openReader = () => {
    const unread = createUnreadAnswers(chooseLimits({ readerTimeout: 1000 }), () => {});
    const socket = new Socket();
    return { unread, socket, account: unread.open('192.0.2.1', socket) };
  };

  it('counts from when there is something to read, however long the answer took', () => {
    const { unread, socket, account } = openReader();
    vi.advanceTimersByTime(60_000);
    account.add(100);
    vi.advanceTimersByTime(900);
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(300);
    expect(socket.destroyed).toBe(true);
    unread.end();
  });

  it('counts anew from every step, also where something is left', () => {
    const { unread, socket, account } = openReader();
    account.add(1000);
    for (let step = 0; step < 10; step++) {
      vi.advanceTimersByTime(900);
      account.take(10);
    }
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(1200);
    expect(socket.destroyed).toBe(true);
    unread.end();
  });
});
