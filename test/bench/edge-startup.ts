import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Miniflare } from 'miniflare';
import { compatibilityDate } from '../../scripts/bundling/cloudflare-settings.ts';
import type { EdgeBundle } from '../support/edge-runtime.ts';
import { median } from './statistics.ts';

const rounds = 9;

/** A Worker that does nothing, with the same classes. */
const empty = [
  'import { DurableObject } from "cloudflare:workers";',
  'export class CatalogObject extends DurableObject {}',
  'export default { fetch: () => new Response("") };',
].join('\n');

/** The processor time, in milliseconds, of the runtime that this process started. Linux alone tells. */
const processorTime = (): number => {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(parent) !== process.pid || !stat.includes('(workerd)')) continue;
      const tasks = readdirSync(`/proc/${pid}/task`).map((task) =>
        Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
      );
      return tasks.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6;
    } catch {
      // It ended meanwhile.
    }
  }
  return Number.NaN;
};

const measureStart = async (script: string): Promise<number> => {
  const runtime = new Miniflare({
    modules: true,
    script,
    compatibilityDate,
    durableObjects: { CATALOG: { className: 'CatalogObject', useSQLite: true } },
    bindings: { PUBLICATION: 'http://127.0.0.1:9' },
  });
  await runtime.ready;
  const time = processorTime();
  await runtime.dispose();
  return time;
};

/**
 * The processor time, in milliseconds, that a Worker takes to start: what the runtime takes with it, without what it takes
 * with one that does nothing. One after the other, so that whatever else runs slows both.
 */
export const measureStartup = async ({ folder }: EdgeBundle): Promise<number> => {
  const script = readFileSync(path.join(folder, 'worker.js'), 'utf8');
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    theirs.push(await measureStart(empty));
    ours.push(await measureStart(script));
  }
  return median(ours) - median(theirs);
};
