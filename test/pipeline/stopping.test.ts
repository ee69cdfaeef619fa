import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { listenForStop } from '../../src/pipeline/stopping.ts';

afterEach(() => void vi.restoreAllMocks());

/** Listens, and sends a signal to that listener alone: the runner has its own. */
const listen = (budget?: number) => {
  const told: string[] = [];
  const stopping = listenForStop(budget, (words) => told.push(words));
  const send = (signal: 'SIGTERM' | 'SIGINT') => process.listeners(signal).at(-1)?.(signal);
  return { stopping, told, send };
};

it('C12: a signal ends the crawl, and a second one ends the process at once', () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const now = vi.spyOn(performance, 'now');
  now.mockReturnValue(86_400_000);
  const listening = () => (['SIGTERM', 'SIGINT'] as const).map((signal) => process.listenerCount(signal));
  const before = listening();
  const { stopping, told, send } = listen();
  expect([stopping.signal.aborted, stopping.by(), stopping.exitCode()]).toEqual([false, undefined, undefined]);
  send('SIGINT');
  expect([stopping.signal.aborted, stopping.by(), stopping.exitCode()]).toEqual([true, 'SIGINT', 130]);
  expect(told).toEqual([expect.stringContaining('A signal a second later or more ends it at once.')]);
  expect(exit).not.toHaveBeenCalled();
  // By way of npm the same word comes twice.
  now.mockReturnValue(performance.now() + 500);
  send('SIGINT');
  expect(exit).not.toHaveBeenCalled();
  now.mockReturnValue(performance.now() + 1000);
  send('SIGTERM');
  expect(exit.mock.calls).toEqual([[143]]);
  expect(told).toHaveLength(1);
  expect(listening()).toEqual(before.map((count) => count + 1));
  stopping.end();
  expect(listening()).toEqual(before);
});

it('C7: the end of the time budget ends the crawl, and the first signal after that does not end the process', async () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const { stopping, told, send } = listen(0.001);
  await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve));
  expect([stopping.by(), stopping.exitCode()]).toEqual(['time budget', undefined]);
  send('SIGTERM');
  expect([stopping.by(), stopping.exitCode()]).toEqual(['time budget', 143]);
  expect(told).toHaveLength(1);
  expect(exit).not.toHaveBeenCalled();
  stopping.end();
});

it('C7: the time budget is over when its seconds are, and never after the build has ended', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const [late, ended] = [listen(90), listen(90)];
  vi.advanceTimersByTime(89_999);
  expect(late.told).toEqual([]);
  ended.stopping.end();
  vi.advanceTimersByTime(1);
  expect(late.told).toEqual(['The time budget of 90 s is over: what was crawled so far is published.']);
  expect(ended.told).toEqual([]);
  late.stopping.end();
});
