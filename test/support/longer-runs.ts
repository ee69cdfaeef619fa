/**
 * How often to repeat a random test: `usual` times, enough to notice what is often broken, or as many times as a
 * variable says for a longer run (CONTRIBUTING.md).
 */
export const timesFrom = (variable: `DEBDEX_TEST_${string}`, usual: number): number => {
  const text = process.env[variable];
  if (text === undefined) return usual;
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`${variable} must be a number of times, not "${text}"`);
  return Number(text);
};
