import { Writable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { Log } from '../../src/log/log.ts';
import { Progress } from '../../src/pipeline/progress.ts';

describe('how long the steps of a build took', () => {
  it('counts a step within another for itself alone, and both together as long as the outer one', async () => {
    vi.useFakeTimers();
    try {
      const written: string[] = [];
      const stream = new Writable({ write: (piece, _, done) => done(void written.push(String(piece))) });
      const progress = new Progress(stream as NodeJS.WriteStream);
      const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);
      await progress.step('crawl', () => pass(1));
      await progress.step('site', async () => {
        pass(8);
        await progress.step('generation', async () => {
          pass(2);
          await progress.step('copies', () => pass(4));
        });
        pass(10);
        // Of the step that goes on, from its own beginning.
        progress.update(48, 100, 'pages');
      });
      await progress.step('crawl', () => pass(3));
      expect([...progress.seconds].map(([step, time]) => [step, Math.round(time)])).toEqual([
        ['crawl', 4],
        ['copies', 4],
        ['generation', 2],
        ['site', 18],
      ]);
      expect(written).toEqual(['site: 48 of 100 pages, 2/s\n']);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    [2, 'repositories', 'crawl: 2 of 9,000 repositories, 0.2/s\n'],
    [8_765, 'documents', 'crawl: 8,765 of 9,000 documents, 877/s\n'],
    // Of time itself it would always be one.
    [10, 'seconds', 'crawl: 10 of 9,000 seconds\n'],
  ])('after ten seconds, %d %s', async (done, unit, line) => {
    vi.useFakeTimers();
    try {
      const written: string[] = [];
      const stream = new Writable({ write: (piece, _, end) => end(void written.push(String(piece))) });
      const progress = new Progress(stream as NodeJS.WriteStream);
      await progress.step('crawl', () => {
        vi.advanceTimersByTime(10_000);
        progress.update(done, 9_000, unit);
      });
      expect(written).toEqual([line]);
    } finally {
      vi.useRealTimers();
    }
  });
});

/** A terminal so many columns wide; what is written to it is kept. */
const openTerminal = (columns: number) => {
  const written: string[] = [];
  const stream = new Writable({ write: (piece, _, end) => end(void written.push(String(piece))) });
  return { written, stream: Object.assign(stream, { isTTY: true, columns }) as unknown as NodeJS.WriteStream };
};

describe('what is shown on a terminal', () => {
  it('is a bar as long as the terminal allows, from ten to forty columns', async () => {
    vi.useFakeTimers();
    try {
      for (const [columns, width] of [
        [30, 10],
        [80, 33],
        [400, 40],
      ] as const) {
        const { written, stream } = openTerminal(columns);
        const progress = new Progress(stream);
        await progress.step('crawl', () => {
          vi.advanceTimersByTime(10_000);
          progress.update(1_000, 2_000, 'documents');
        });
        expect(written.join('').match(/━/g), `${columns}`).toHaveLength(width);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('is also what is told in between, to people and not in the log', () => {
    const warned: string[] = [];
    const log = { warn: (_event: string, words: string) => warned.push(words) } as unknown as Log;
    const { written, stream } = openTerminal(80);
    new Progress(stream, log).note('no-network', 'To people.');
    expect([written.join(''), warned]).toEqual([expect.stringContaining('To people.\n'), []]);
    const plain = new Writable({ write: (_piece, _, end) => end() }) as NodeJS.WriteStream;
    new Progress(plain, log).note('no-network', 'To programs.');
    expect(warned).toEqual(['To programs.']);
  });
});

it('tells why something is tried again once in ten seconds, however often that is', () => {
  vi.useFakeTimers();
  try {
    const written: string[] = [];
    const stream = new Writable({ write: (piece, _, end) => end(void written.push(String(piece))) });
    const progress = new Progress(stream as NodeJS.WriteStream);
    for (const reason of ['first', 'second']) progress.retry(reason);
    vi.advanceTimersByTime(9_999);
    progress.retry('third');
    vi.advanceTimersByTime(1);
    progress.retry('fourth');
    expect(written).toEqual(['first\n', 'fourth\n']);
  } finally {
    vi.useRealTimers();
  }
});
