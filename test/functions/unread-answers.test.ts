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

describe('H8 what readers leave unread', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  const openAnswers = () => {
    const bounds = { clientUnreadBytes: 1000, unreadBytes: 3000, readerTimeout: 60_000, readerPatience: 5000 };
    const met: string[] = [];
    const unread = createUnreadAnswers(chooseLimits(bounds), (limit) => met.push(limit));
    const open = (client: string) => {
      const socket = new Socket();
      return { ...unread.open(client, socket), isCut: () => socket.destroyed, leave: () => void socket.destroy() };
    };
    return { unread, open, met };
  };

  it('may be one answer larger than any bound, whoever has read before', () => {
    const { open, met } = openAnswers();
    const before = open('192.0.2.2');
    before.add(500);
    before.take(500);
    before.close();
    const large = open('192.0.2.1');
    large.add(2000);
    large.add(2000);
    expect([large.isCut(), met]).toEqual([false, []]);
  });

  it('counts until it is read, and no longer than its connection is there', () => {
    const { open, met } = openAnswers();
    for (let number = 0; number < 10; number++) {
      const one = open(`192.0.2.${number}`);
      one.add(900);
      one.take(900);
      const other = open(`192.0.2.${number}`);
      other.add(900);
      other.close();
      // What is still written then is nobody's.
      other.add(900);
    }
    const last = ['192.0.2.98', '192.0.2.99'].map(open);
    for (const one of last) one.add(900);
    expect([last.some((one) => one.isCut()), met]).toEqual([false, []]);
  });

  it('is counted off once, though what was written to a reader that is gone is told to be over afterwards', () => {
    const { open, met } = openAnswers();
    for (const client of ['192.0.2.1', '192.0.2.2']) {
      const gone = open(client);
      gone.add(900);
      gone.leave();
      gone.close();
      gone.take(900);
      // Nor is more counted that is written to it.
      const other = open(client);
      other.leave();
      other.add(900);
    }
    const three = ['192.0.2.3', '192.0.2.4', '192.0.2.5'].map(open);
    for (const one of three) one.add(900);
    expect(met).toEqual([]);
    open('192.0.2.6').add(900);
    expect(met).toEqual(['unreadBytes']);
  });

  it('has of one client the reader cut that has not moved for longest', () => {
    const { open, met } = openAnswers();
    const [still, moving] = [open('192.0.2.1'), open('192.0.2.1')];
    for (const one of [moving, still]) one.add(400);
    vi.advanceTimersByTime(100);
    moving.take(10);
    vi.advanceTimersByTime(100);
    const begun = open('192.0.2.1');
    begun.add(400);
    expect([still, moving, begun].map((one) => one.isCut())).toEqual([true, false, false]);
    expect(met).toEqual(['clientUnreadBytes']);
  });

  it('has those cut that have not moved for seconds before another answer is made, and no others', () => {
    const { unread, open, met } = openAnswers();
    const still = open('192.0.2.1');
    still.add(400);
    vi.advanceTimersByTime(5001);
    const moving = open('192.0.2.1');
    moving.add(400);
    expect(unread.admits('192.0.2.1')).toBe(true);
    expect([still.isCut(), moving.isCut(), met]).toEqual([true, false, ['clientUnreadBytes']]);
    moving.add(400);
    expect(unread.admits('192.0.2.1')).toBe(false);
    expect(unread.admits('192.0.2.2')).toBe(true);
    expect(moving.isCut()).toBe(false);
  });

  it('has one that stands still cut for all of them before those that have just begun, though they hold more', () => {
    const { open, met } = openAnswers();
    const still = open('192.0.2.1');
    still.add(400);
    vi.advanceTimersByTime(1001);
    const begun = ['192.0.2.2', '192.0.2.3', '192.0.2.4'].map(open);
    for (const one of begun) one.add(900);
    expect([still.isCut(), begun.some((one) => one.isCut()), met]).toEqual([true, false, ['unreadBytes']]);
    // Where nobody stands still, whoever holds the most.
    const most = open('192.0.2.5');
    most.add(950);
    expect([most.isCut(), begun.some((one) => one.isCut())]).toEqual([true, false]);
  });
});
