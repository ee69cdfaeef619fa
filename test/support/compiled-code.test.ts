import { expect, it } from 'vitest';

it('finds what was compiled of test files again in the next run, which has no addresses of its own for them', () => {
  expect(import.meta.url).toMatch(/\/compiled-code\.test\.ts$/);
});
