import { afterEach, expect, test, vi } from 'vitest';
import { sweep as sweepAtEdge } from '../../functions/cloudflare/with-gateway/sweeping.ts';
import { openGateway } from '../../functions/gateway/node/open-gateway.ts';
import type { CredentialStore } from '../../functions/gateway/store/credential-store.ts';
import { readTestConfiguration, weakCost } from '../support/gateway-session.ts';

const minute = 60_000;
afterEach(() => {
  vi.useRealTimers();
});

test('T12 a gateway sweeps its store every ten minutes, portion by portion while there is more, until it is closed', async () => {
  vi.useFakeTimers();
  const answers = [{ more: true }, { more: true }, { more: false }, undefined, { more: false }];
  let sweeps = 0;
  const sweep = async () => {
    const answer = answers[sweeps++];
    if (answer === undefined) throw new Error('the store is away');
    return { deleted: 0, ...answer };
  };
  const store = { sweep, close: async () => {} } as Partial<CredentialStore> as CredentialStore;
  const gateway = openGateway(readTestConfiguration({}), { tell: () => {}, passwordCost: weakCost, store });
  const after = async (time: number) => {
    await vi.advanceTimersByTimeAsync(time);
    return sweeps;
  };
  expect(await after(10 * minute - 1)).toBe(0);
  expect(await after(1)).toBe(1);
  expect(await after(1_000)).toBe(3);
  expect(await after(9 * minute)).toBe(3);
  // This one fails, and is no reason not to sweep again.
  expect(await after(minute)).toBe(4);
  expect(await after(10 * minute)).toBe(5);
  expect(await after(9 * minute)).toBe(5);
  await gateway.close();
  expect(await after(60 * minute)).toBe(5);
});

test('T12 a sweep that a schedule begins at the edge ends by itself before the next, whatever is left', async () => {
  vi.useFakeTimers();
  const begun = Date.now();
  let sweeps = 0;
  const endless = async () => {
    vi.setSystemTime(begun + ++sweeps * minute);
    return { deleted: 200, more: sweeps < 20 };
  };
  await sweepAtEdge({ sweep: endless });
  expect(sweeps).toBe(5);
});
