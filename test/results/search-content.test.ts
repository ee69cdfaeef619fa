import { expect, it } from 'vitest';
import { composeContent, readSummary } from '../../src/results/search-content.ts';

it('gives the summary back, whatever words stand before it', () => {
  for (const summary of ['', 'One tweak', '¶ first', 'Fast ¶ and small', '日本語 ¶']) {
    for (const words of [[], ['Choicy'], ['com.example', 'An ¶ author', '¶']]) {
      expect(readSummary(composeContent(words, summary))).toBe(summary);
    }
  }
});
