import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import { readManifest } from '../../src/crawl/read-manifest.ts';
import { CrawlBench } from '../support/crawling.ts';

// Real repositories, where they lie beside the project; they are not part of it.
const tool = fileURLToPath(new URL('../../../shared/tools/origin.mjs', import.meta.url));

describe.skipIf(!existsSync(tool))('real repositories (skipped where ../shared is not there)', () => {
  let bench: CrawlBench;
  let server: ChildProcess;
  let entries: ManifestEntry[];

  beforeAll(async () => {
    bench = await CrawlBench.start();
    const manifest = join(bench.directory, 'manifest.json');
    server = spawn(process.execPath, [tool, '--manifest', manifest], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (server.stdout) await once(server.stdout, 'data');
    entries = await readManifest(manifest);
  });

  afterAll(async () => {
    server.kill();
    await bench.stop();
  });

  it('all come out fresh, and every Release that lists an index confirms it', async () => {
    const outcomes = await bench.crawl(entries);
    expect(outcomes.filter(({ outcome }) => outcome !== 'fresh')).toEqual([]);
    const codes = new Set(outcomes.flatMap(({ findings }) => findings.map(({ code }) => code)));
    expect(codes).not.toContain('index-mismatch');
    expect(codes).not.toContain('index-missing');
  });

  it('C6: all are unchanged afterwards, for one request where Release lists hashes and two elsewhere', async () => {
    const outcomes = await bench.crawl(entries);
    expect(outcomes.filter(({ outcome }) => outcome !== 'unchanged')).toEqual([]);
    for (const { slug, requests, bytes } of outcomes) {
      const listed = (await bench.store.read(slug))?.packages.listed;
      expect({ slug, requests, bytes }).toEqual({ slug, requests: listed ? 1 : 2, bytes: 0 });
    }
  });
});
