import { describe, expect, it } from 'vitest';
import { errorChain } from '../../src/log/error-chain.ts';
import { createLineBudget } from '../../src/log/line-budget.ts';
import { createLog, type LogFormat } from '../../src/log/log.ts';
import type { LogLevel } from '../../src/log/log-line.ts';

const now = () => new Date('2026-05-01T12:00:00Z');

const open = ({ level = 'info', format = 'json' }: { level?: LogLevel; format?: LogFormat } = {}) => {
  const written: string[] = [];
  let milliseconds = 0;
  const log = createLog({ level, format, write: (text) => written.push(text), now, clock: () => milliseconds });
  return {
    log,
    text: () => written.join(''),
    lines: () =>
      written
        .join('')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    writes: written,
    wait: (seconds: number) => {
      milliseconds += seconds * 1000;
    },
  };
};

const withCode = (message: string, code: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code });

describe('H11 a failure of ours', () => {
  it('is logged with every cause down to the first, with codes, and with the place where it was thrown', () => {
    const { log, lines } = open();
    const cause = new TypeError('cannot prepare', { cause: withCode('image is malformed', 'ERR_SQLITE_ERROR') });
    log.fault(new Error('The search index did not answer', { cause }), { request: 'abc' });
    expect(lines()).toEqual([
      {
        time: '2026-05-01T12:00:00.000Z',
        level: 'error',
        event: 'fault',
        message: 'The search index did not answer',
        request: 'abc',
        name: 'Error',
        causes: [
          { name: 'TypeError', message: 'cannot prepare' },
          { name: 'Error', message: 'image is malformed', code: 'ERR_SQLITE_ERROR' },
        ],
        stack: expect.stringMatching(/^at .*log\.test\.ts/),
      },
    ]);
  });

  it('is told the same to people, below one line', () => {
    const { log, text } = open({ format: 'text' });
    log.fault(new Error('above', { cause: withCode('below\nand \u001b[31mred', 'EIO') }), { request: 'abc' });
    const [first, because, frame] = text().split('\n');
    expect(first).toBe('2026-05-01T12:00:00.000Z error above (request=abc name=Error)');
    expect(because).toBe('    because Error EIO: below\\u000aand \\u001b[31mred');
    expect(frame).toMatch(/^ {4}at .*log\.test\.ts/);
  });

  it('ends where its causes go round, are many, or came together', () => {
    const round = new Error('one');
    round.cause = new Error('two', { cause: round });
    expect(errorChain(round).map(({ message }) => message)).toEqual(['one', 'two']);
    let deep = new Error('0');
    for (let number = 1; number < 50; number++) deep = new Error(String(number), { cause: deep });
    expect(errorChain(deep)).toHaveLength(8);
    const together = new AggregateError([withCode('refused', 'ECONNREFUSED'), new Error('away')], 'none');
    expect(errorChain(together).map(({ message }) => message)).toEqual(['none', 'refused', 'away']);
    expect(errorChain('a text')).toEqual([{ name: 'string', message: 'a text' }]);
    expect(errorChain(undefined)).toHaveLength(1);
  });
});

describe('H12 what strangers make the log say', () => {
  const hostile = 'a\nb\r\u2028c\u001b]0;title\u0007\u009b31m\u202etxt.exe\ud800"\\';

  it('is one line without control or invisible characters, and can still be read back as the same text', () => {
    for (const format of ['json', 'text'] as const) {
      const { log, text } = open({ format });
      log.warn('test', hostile, { field: hostile });
      expect(text().indexOf('\n')).toBe(text().length - 1);
      expect(text().trimEnd()).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
    }
    const { log, lines } = open();
    log.warn('test', hostile);
    expect(lines()[0]?.message).toBe(hostile);
  });

  it('is no place in the source, though a message has lines that look like one', () => {
    const { log, lines } = open();
    const message = 'refused\n    at forged (evil.js:1:1)';
    log.fault(new Error(message));
    log.fault(new Error('ours', { cause: new Error(message) }));
    for (const { stack } of lines()) expect(stack).toMatch(/^at (?!forged)/);
    expect(lines()[0]?.message).toBe(message);
    expect(JSON.stringify(lines().map(({ stack }) => stack))).not.toContain('forged');
  });

  it('is bounded in length, whatever it has to be escaped to', () => {
    for (const format of ['json', 'text'] as const) {
      const { log, writes } = open({ format });
      log.error('test', 'x'.repeat(1_000_000), { one: 'y'.repeat(1_000_000) });
      log.fault(new Error('\u0000'.repeat(1_000_000), { cause: new Error('\u0001'.repeat(1_000_000)) }));
      for (const line of writes) expect(line.length).toBeLessThanOrEqual(17 * 1024);
      expect(writes[0]).toMatch(/x{1000}…/);
    }
  });

  it('is bounded in lines a second for each kind, and the log says how many it left out', () => {
    const { log, lines, wait } = open();
    const flood = () => {
      for (let number = 0; number < 10_000; number++) log.fault(withCode(`no ${number}`, 'EIO'));
    };
    flood();
    expect(lines()).toHaveLength(60);
    // Another kind is heard all the same.
    log.fault(withCode('full', 'ENOSPC'));
    expect(lines().at(-1)).toMatchObject({ message: 'full' });
    wait(5);
    flood();
    expect(lines()).toHaveLength(66);
    log.flush();
    expect(lines().at(-1)).toMatchObject({ level: 'warn', event: 'lines-left-out', kind: 'fault EIO', count: 19_935 });
    log.flush();
    expect(lines()).toHaveLength(67);
    // A day of silence gives nobody more than that.
    wait(86_400);
    flood();
    expect(lines()).toHaveLength(67 + 60);
  });

  it('cannot make kinds without end', () => {
    const budget = createLineBudget(() => 0);
    const allowance = { atOnce: 1, perSecond: 1 };
    const taken = Array.from({ length: 5000 }, (_, number) => budget.take(`kind ${number}`, allowance));
    expect(taken.filter(Boolean)).toHaveLength(201);
    expect(budget.takeLeftOut()).toEqual(new Map([['other', 4799]]));
  });

  it('is left out below the level that was asked for', () => {
    const { log, lines } = open({ level: 'warn' });
    log.debug('test', 'one');
    log.info('test', 'two');
    log.warn('test', 'three');
    log.error('test', 'four');
    expect(lines().map(({ message }) => message)).toEqual(['three', 'four']);
  });

  it('is written together where it is about requests, in order with the rest', () => {
    const { log, writes, lines } = open();
    for (let number = 0; number < 100; number++) log.info('request', `GET /${number}`);
    expect(writes).toHaveLength(0);
    log.error('test', 'something else');
    expect(writes).toHaveLength(1);
    expect(lines()).toHaveLength(101);
    for (let number = 0; number < 10_000; number++) log.info('request', 'GET /');
    log.flush();
    expect(lines().filter(({ event }) => event === 'request')).toHaveLength(4000);
    expect(lines().at(-1)).toMatchObject({ event: 'lines-left-out', kind: 'request', count: 6100 });
  });
});
