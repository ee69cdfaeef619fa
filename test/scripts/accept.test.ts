import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { writeLastBuild } from '../../src/catalog/last-build.ts';
import { lockState } from '../../src/catalog/lock.ts';
import { areRemovalsAccepted, forgetRemovals, holdRemovals } from '../../src/snapshots/removals.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { CrawlBench, makeEntry } from '../support/crawling.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runScript } from '../support/run-script.ts';

const script = path.join(import.meta.dirname, '..', '..', 'scripts', 'accept.ts');

const accept = async (...flags: string[]) => {
  const { status, text } = await runScript('accept', flags);
  return { status, text };
};

/** The same as a process of its own, beside which there may be others. */
const acceptBeside = async (...flags: string[]) => {
  const child = spawn(process.execPath, [script, ...flags]);
  const [out, error, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { status: status as number | null, text: out + error };
};

/** A state folder with a repository whose index was held back. */
const makeState = async (): Promise<string> => {
  const state = temporaryFolder();
  const bench = await CrawlBench.start();
  const store = openStore(state);
  const entries = [makeEntry('repo', bench.origin.uri('repo'))];
  for (const count of [9, 2]) {
    bench.origin.serve('repo', await generateRepository({ packages: makePackages(count) }));
    await bench.crawl(entries, { store });
  }
  await bench.stop();
  return state;
};

describe('npm run accept', () => {
  it('C4: takes what is held back, once, and two at once do no harm', async () => {
    const state = await makeState();
    const answers = await Promise.all([acceptBeside('repo', '--state', state), acceptBeside('repo', '--state', state)]);
    const statuses = answers.map(({ status }) => status).sort();
    expect([
      [0, 1],
      [0, 7],
    ]).toContainEqual(statuses);
    expect(answers.find(({ status }) => status === 0)?.text).toBe(
      'The next build takes an index of about 2 stanzas.\n',
    );
    expect(answers.find(({ status }) => status !== 0)?.text).toMatch(/^(Nothing of repo is held back|another build)/);
    expect(await accept('repo', '--state', state)).toMatchObject({ status: 1 });
  });

  it('C4: without a slug lists what is held back, and why', async () => {
    const state = await makeState();
    const { status, text } = await accept('--state', state);
    expect(status).toBe(0);
    expect(text).toMatch(/^repo\n {2}index-shrunken: More than half .+ had 9 stanzas, and now has 2/);
    expect(text).toContain(`npm run accept -- --state ${state} SLUG\n`);
    await accept('repo', '--state', state);
    expect(await accept('--state', state)).toEqual({ status: 0, text: `Nothing is held back in ${state}.\n` });
  });

  it('C4: lists nothing of a repository that the manifest of the last build did not have any more', async () => {
    const state = await makeState();
    writeLastBuild(state, { format: 2, builtAt: '2026-06-02T12:00:00.000Z', repositories: [] });
    expect(await accept('--state', state)).toEqual({ status: 0, text: `Nothing is held back in ${state}.\n` });
  });

  it('C4: lets repositories that left the manifest all at once go, on a word', async () => {
    const state = await makeState();
    expect(await accept('--state', state, '--removals')).toMatchObject({ status: 1 });
    expect(holdRemovals(state, ['b', 'a', 'c']).message).toMatch(
      /b, a, c.*npm run accept -- --state \S+ --removals and build/,
    );
    expect(areRemovalsAccepted(state, ['a'])).toBe(false);
    expect((await accept('--state', state)).text).toContain('kept for now: a, b, c');
    expect(await accept('--state', state, '--removals')).toEqual({
      status: 0,
      text: 'The next build lets go of a, b, c.\n',
    });
    expect(areRemovalsAccepted(state, ['a', 'c'])).toBe(true);
    expect(areRemovalsAccepted(state, ['a', 'd'])).toBe(false);
    expect((await accept('--state', state)).text).not.toContain('a, b, c');
    forgetRemovals(state);
    expect(areRemovalsAccepted(state, ['a'])).toBe(false);
    expect((await accept('repo', '--removals', '--state', state)).status).toBe(2);
  });

  it('C4: waits for no build, and says that there is one', async () => {
    const state = await makeState();
    const unlock = lockState(state);
    expect(await accept('repo', '--state', state)).toMatchObject({
      status: 7,
      text: expect.stringMatching(`another build is using .+process ${process.pid}, since 20`),
    });
    unlock();
    expect(await accept('repo', '--state', state)).toMatchObject({ status: 0 });
  });

  it.each([
    ['nothing is yet', []],
    ['nothing was restored but what cannot be found out again', ['history']],
  ])('takes a folder over for a state folder in which %s', async (_, restored) => {
    const [state, out] = [temporaryFolder(), temporaryFolder()];
    for (const name of restored) mkdirSync(path.join(state, name));
    writeFileSync(path.join(out, 'index.html'), 'mine');
    expect(await accept('--state', state, '--take-over', out)).toEqual({
      status: 0,
      text: `${out} is published from ${state} from now on.\n`,
    });
  });

  it('says what is wrong in a sentence, and makes nothing', async () => {
    const folder = temporaryFolder();
    const none = path.join(folder, 'none');
    expect(await accept('repo', '--state', none)).toEqual({
      status: 1,
      text: `There is no state folder ${none}: build first, or name another --state.\n`,
    });
    expect(existsSync(none)).toBe(false);
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    // One level too high, or a file: that nothing is held back there would be true, and no comfort.
    for (const wrong of [file, folder]) {
      expect(await accept('--state', wrong)).toEqual({
        status: 1,
        text: `${wrong} is no state folder: name the one that builds have as --state.\n`,
      });
    }
    const damaged = path.join(folder, 'damaged');
    mkdirSync(path.join(damaged, 'snapshots', 'v1', 'repo'), { recursive: true });
    for (const name of ['meta.json', 'attempts.json']) {
      writeFileSync(path.join(damaged, 'snapshots', 'v1', 'repo', name), '{');
    }
    for (const slug of ['repo', 'other', 'constructor']) {
      expect(await accept(slug, '--state', damaged)).toEqual({
        status: 1,
        text: `Nothing of ${slug} is held back in ${damaged}.\n`,
      });
    }
    for (const wrong of [none, file]) {
      expect(await accept('--state', damaged, '--take-over', wrong)).toEqual({
        status: 1,
        text: `There is no folder ${wrong}.\n`,
      });
    }
    const blocked = temporaryFolder();
    mkdirSync(path.join(blocked, 'identifier'));
    for (const words of [['--take-over', folder], ['repo'], []]) {
      expect(await accept('--state', blocked, ...words)).toEqual({
        status: 1,
        text: expect.stringMatching(`${blocked}/identifier is a folder, and a build keeps a file of that name: .+`),
      });
    }
    const around = await accept('--state', damaged, '--take-over', folder);
    expect(around.status).toBe(2);
    expect(around.text).toMatch(/lies in it, whose files are for everybody.*name folders beside each other/);
    expect(existsSync(path.join(folder, '.debdex'))).toBe(false);
    for (const slug of ['../repo', '__proto__', 'A', '']) {
      expect((await accept(slug, '--state', damaged)).status, slug).not.toBe(0);
    }
  });
});
