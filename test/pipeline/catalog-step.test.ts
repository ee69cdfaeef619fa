import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { encodeFolderName } from '../../src/contract/filenames.ts';
import type { CrawlOutcome } from '../../src/crawl/crawl.ts';
import type { BuildInput, PreparedInput } from '../../src/pipeline/build-input.ts';
import { bringUpToDate, withSoundCatalog } from '../../src/pipeline/catalog-step.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { buildCatalog, packages } from '../support/catalog.ts';
import { makeEntry } from '../support/crawling.ts';
import { temporaryFolder } from '../support/folder.ts';

it('C2: repositories whose snapshots cannot be read are looked for once each, however many there are', async () => {
  const state = temporaryFolder();
  const count = 100;
  const entries = Array.from({ length: count }, (_, index) => makeEntry(`r${index}`, `https://r${index}.example/`));
  for (const { slug } of entries) {
    const folder = path.join(state, 'snapshots', 'v1', encodeFolderName(slug));
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'meta.json'), 'no JSON');
  }
  let looks = 0;
  // The others are not visited.
  const crawled = entries.slice(count / 2).map(({ slug: own }) => ({
    get slug() {
      looks++;
      return own;
    },
    outcome: 'unchanged',
    code: null,
    confirmedAt: null,
    findings: [],
  })) as unknown as CrawlOutcome[];
  const input = {
    ...{ entries, state, store: openStore(state), base: 'https://index.example' },
    now: () => new Date('2026-06-01T00:00:00Z'),
    progress: { step: (_name: string, work: () => unknown) => work(), update: () => {} },
  } as unknown as PreparedInput;
  const { outcomes, unreadable } = await withSoundCatalog(input, async (catalog) => {
    const { result } = await bringUpToDate(input, crawled, catalog);
    catalog.discard();
    return result;
  });
  expect(unreadable).toEqual(entries.slice(0, count / 2).map(({ slug }) => slug));
  expect(outcomes.map(({ slug, code }) => [slug, code])).toEqual(
    entries.slice(count / 2).map(({ slug }) => [slug, 'store-failed']),
  );
  expect(looks).toBeLessThan(10 * count);
});

it('C12: the work is repeated with a new catalog where that in force is damaged, and for no other failure', async () => {
  const state = temporaryFolder();
  await buildCatalog(state, [{ slug: 'one', packages: packages({}) }]);
  const input = { state } as BuildInput;
  const failing = async (cause: Error) => {
    const begun: boolean[] = [];
    const work = withSoundCatalog(input, async (catalog) => {
      begun.push(catalog.before === undefined);
      throw cause;
    });
    await expect(work).rejects.toBe(cause);
    return begun;
  };
  expect(await failing(new Error('a full disk'))).toEqual([false]);
  const damage = Object.assign(new Error('malformed'), { code: 'ERR_SQLITE_ERROR', errcode: 11 });
  expect(await failing(damage)).toEqual([false, true]);
});
