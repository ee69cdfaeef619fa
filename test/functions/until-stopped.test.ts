import { expect, it, vi } from 'vitest';
import { untilStopped } from '../../functions/node/until-stopped.ts';

it('H2: a server that is told to stop twice at once completes what is under way, and ends at once for a later word', async () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const now = vi.spyOn(performance, 'now').mockReturnValue(5000);
  const stopped = untilStopped();
  const listeners = (['SIGTERM', 'SIGINT'] as const).map((signal) => ({
    signal,
    stop: process.listeners(signal).at(-1),
  }));
  const send = (signal: 'SIGTERM' | 'SIGINT') => listeners.find((one) => one.signal === signal)?.stop?.(signal);
  send('SIGTERM');
  await stopped;
  now.mockReturnValue(5900);
  send('SIGTERM');
  send('SIGINT');
  expect(exit).not.toHaveBeenCalled();
  now.mockReturnValue(6100);
  send('SIGTERM');
  expect(exit.mock.calls).toEqual([[1]]);
  for (const { signal, stop } of listeners) if (stop !== undefined) process.off(signal, stop);
  vi.restoreAllMocks();
});
