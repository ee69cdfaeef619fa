import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTurns } from '../../functions/cloudflare/turns.ts';

describe('E2: the questions to an object', () => {
  it('are answered one at a time, and those of one client do not hold up another', async () => {
    const turns = createTurns();
    const begun: string[] = [];
    let underWay = 0;
    const ask = (client: string, name: string) =>
      turns.ask(client, async () => {
        begun.push(name);
        expect(++underWay).toBe(1);
        await nextRound();
        underWay--;
        return name;
      });
    const answers = await Promise.all([
      ...['1', '2', '3', '4', '5', '6'].map((name) => ask('one', name)),
      ask('other', 'a'),
    ]);
    expect(answers).toEqual(['1', '2', '3', '4', '5', '6', 'a']);
    expect(begun.indexOf('a')).toBeLessThan(3);
  });

  it('pause after every few, so that the object takes other requests', async () => {
    const turns = createTurns();
    let answered = 0;
    const asked = Array.from({ length: 12 }, () => turns.ask('one', async () => void answered++));
    await new Promise<void>((resolve) => setTimeout(resolve));
    expect(answered).toBeLessThan(12);
    await Promise.all(asked);
    expect(answered).toBe(12);
  });

  it('go on behind one that fails', async () => {
    const turns = createTurns();
    const failing = turns.ask('one', async () => {
      throw new Error('of the test');
    });
    const next = turns.ask('one', async () => 'next');
    await expect(failing).rejects.toThrow('of the test');
    expect(await next).toBe('next');
  });
});
