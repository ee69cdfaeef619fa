import { Writable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
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
