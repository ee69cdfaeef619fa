import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRounds, createTurns } from '../../functions/node/turns.ts';

/** Keeps the process busy, as a question to the index does. */
const busy = (milliseconds: number) => {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
};

describe('turns', () => {
  it('go round among clients, however much one of them asks', async () => {
    const turns = createTurns();
    const answered: string[] = [];
    const ask = (client: string) =>
      turns.ask(client, async () => {
        busy(5);
        answered.push(client);
      });
    await Promise.all([...Array.from({ length: 10 }, () => ask('many')), ask('one'), ask('two'), ask('one')]);
    expect(answered.slice(0, 6)).toEqual(['many', 'many', 'one', 'two', 'many', 'one']);
    expect(answered).toHaveLength(13);
  });

  it('begin no work while they are paused, and what was asked for meanwhile after that', async () => {
    const rounds = createRounds();
    const done: string[] = [];
    rounds.pause();
    for (const name of ['one', 'two']) rounds.take(name, () => done.push(name));
    rounds.hurry();
    for (let round = 0; round < 3; round++) await nextTurn();
    expect(done).toEqual([]);
    rounds.resume();
    while (done.length < 2) await nextTurn();
    expect(done).toEqual(['one', 'two']);
  });

  it('come in the order asked, though there is time left for who asks while others wait', async () => {
    const rounds = createRounds();
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    const done: string[] = [];
    rounds.take('one', () => done.push('one'));
    now.mockReturnValue(5);
    rounds.take('two', () => done.push('two'));
    // As where what is measured by was set back: the turn is not over, and somebody waits.
    now.mockReturnValue(1);
    rounds.take('three', () => done.push('three'));
    expect(done).toEqual(['one']);
    while (done.length < 3) await nextTurn();
    expect(done).toEqual(['one', 'two', 'three']);
  });

  it('end after so many pieces too, however short they are', async () => {
    const rounds = createRounds();
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    let done = 0;
    rounds.take('one', () => done++);
    now.mockReturnValue(5);
    for (let number = 0; number < 100; number++) rounds.take('one', () => done++);
    expect(done).toBe(1);
    // From now on no time passes.
    now.mockReturnValue(0);
    let most = 0;
    while (done < 101) {
      const before = done;
      await nextTurn();
      most = Math.max(most, done - before);
    }
    expect(most).toBe(16);
  });

  it('are as long as ever once the connections are there', async () => {
    const rounds = createRounds();
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    rounds.hurry();
    for (const _ of ['the round of the hurry', 'the next']) await nextTurn();
    let done = 0;
    rounds.take('one', () => done++);
    now.mockReturnValue(2);
    rounds.take('one', () => done++);
    expect(done).toBe(2);
  });

  it('let everything else go on between questions', async () => {
    const turns = createTurns();
    const questions = Array.from({ length: 10 }, () => turns.ask('many', async () => busy(5)));
    let others = 0;
    let asking = true;
    const all = Promise.all(questions).then(() => (asking = false));
    while (asking) {
      await nextTurn();
      others++;
    }
    await all;
    expect(others).toBeGreaterThanOrEqual(9);
  });

  it('H6 are brief while new connections come, which the system hands over one in each round of the loop', async () => {
    /** How many of so many questions, of a millisecond each, are answered before the loop goes round. */
    const answeredAtOnce = async (isHurried: boolean) => {
      const rounds = createRounds();
      await nextTurn();
      let answered = 0;
      const question = () => {
        busy(1);
        answered++;
      };
      if (isHurried) rounds.hurry();
      for (let number = 0; number < 3; number++) rounds.take('many', question);
      const atOnce = answered;
      while (answered < 3) await nextTurn();
      return atOnce;
    };
    expect(await answeredAtOnce(true)).toBe(1);
    let most = 0;
    // A busy machine may make any turn long, but not each of them.
    for (let round = 0; round < 20 && most < 2; round++) most = Math.max(most, await answeredAtOnce(false));
    expect(most).toBeGreaterThan(1);
  });

  it('answer at once where nobody waits', async () => {
    const turns = createTurns();
    let answered = false;
    void turns.ask('one', async () => (answered = true));
    expect(answered).toBe(true);
  });

  it('hand on what a question answers and how it fails', async () => {
    const turns = createTurns();
    expect(await turns.ask('one', async () => 7)).toBe(7);
    await expect(turns.ask('one', () => Promise.reject(new Error('late')))).rejects.toThrow('late');
    const atOnce = turns.ask('one', () => {
      throw new Error('at once');
    });
    await expect(atOnce).rejects.toThrow('at once');
    expect(await turns.ask('one', async () => 8)).toBe(8);
  });
});
