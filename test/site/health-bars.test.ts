import { describe, expect, it } from 'vitest';
import { computeBars, computeBuildBars, computeLastingBars } from '../../src/site/health-bars.ts';

describe('health bars', () => {
  it('C4: has a bar for each build, the newest at the end, and says the same in words', () => {
    expect(computeBars('fusx-u')).toEqual({
      runs: [
        { state: 'good', start: 24, length: 2 },
        { state: 'stale', start: 26, length: 1 },
        { state: 'failed', start: 27, length: 1 },
        { state: 'none', start: 28, length: 1 },
        { state: 'good', start: 29, length: 1 },
      ],
      text: 'In trouble in 2 of the last 5 builds that visited it.',
    });
    expect(computeBars('us').text).toBe('In trouble in 1 of the last 2 builds, and still.');
    expect(computeBars('us-').text).toBe('In trouble in 1 of the last 2 builds that visited it, and still.');
    expect(computeBars('-uu').text).toBe('In order in the last 2 builds that visited it.');
    expect(['-u', 's-'].map((history) => computeBars(history).text)).toEqual([
      'In order in the last build that visited it.',
      'In trouble in the last build that visited it.',
    ]);
    expect(computeBars('--').text).toBe('Not visited in the last 2 builds.');
    expect(['u', 's', '-'].map((history) => computeBars(history).text)).toEqual([
      'In order in the last build.',
      'In trouble in the last build.',
      'Not visited in the last build.',
    ]);
    expect(computeBars('u'.repeat(40))).toEqual({
      runs: [{ state: 'good', start: 0, length: 30 }],
      text: 'In order in the last 30 builds.',
    });
  });

  it('C6: of a repository without trouble are the same after every build, so that its page is', () => {
    const first = computeLastingBars('f');
    // Nothing is shown of builds that never were.
    expect(first).toEqual({ runs: [], text: 'No trouble in the last builds.' });
    for (const history of ['fu', '--fuf', `f${'-'.repeat(29)}`, 'u'.repeat(29)])
      expect(computeLastingBars(history)).toEqual(first);
    const all = computeLastingBars('u'.repeat(30));
    expect(all).toEqual(computeBars('u'.repeat(30)));
    for (const history of [`${'u'.repeat(29)}f`, `s${'u'.repeat(30)}`])
      expect(computeLastingBars(history)).toEqual(all);
    expect(computeLastingBars('fus')).toEqual(computeBars('fus'));
  });

  it('C4: of all builds tell of those that published nothing', () => {
    const build = (ended: 'published' | 'failed', stale: number) => ({ ended, repositories: { stale, failed: 0 } });
    const { runs, text } = computeBuildBars([build('published', 0), build('published', 2), build('failed', 0)]);
    expect(runs.map(({ state }) => state)).toEqual(['good', 'stale', 'failed']);
    expect(text).toBe(
      'The last 3 builds: 1 with every repository in order, 1 with some in trouble, 1 that published nothing.',
    );
    expect(computeBuildBars([build('published', 0), build('published', 0)]).text).toBe(
      'The last 2 builds: all with every repository in order.',
    );
    const none = [build('failed', 0), build('failed', 0)];
    expect(computeBuildBars(none).text).toBe('The last 2 builds: 2 that published nothing.');
    expect(computeBuildBars([build('published', 0)]).text).toBe('One build so far, with every repository in order.');
  });
});
