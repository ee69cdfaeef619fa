import { readdirSync, readFileSync } from 'node:fs';
import { Miniflare } from 'miniflare';
import { compatibilityDate } from '../../scripts/bundling/cloudflare-settings.ts';
import { type EdgeBundle, modulesOf } from '../support/edge-runtime.ts';
import { median } from './statistics.ts';

const rounds = 20;

/** A Worker that does nothing, with the same classes. */
const empty = [
  'import { DurableObject } from "cloudflare:workers";',
  'export class CatalogObject extends DurableObject {}',
  'export default { fetch: () => new Response("") };',
].join('\n');

/** The processor time, in milliseconds, of the runtime that this process started. Only Linux reports it. */
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
      // The process has ended meanwhile.
    }
  }
  return Number.NaN;
};

const measureStart = async (modules: ReturnType<typeof modulesOf>, hasGateway = false): Promise<number> => {
  const runtime = new Miniflare({
    modules,
    compatibilityDate,
    ...(hasGateway ? { compatibilityFlags: ['nodejs_compat'] } : {}),
    durableObjects: {
      CATALOG: { className: 'CatalogObject', useSQLite: true },
      ...(hasGateway ? { CREDENTIALS: { className: 'GatewayObject', useSQLite: true } } : {}),
    },
    bindings: { PUBLICATION: 'http://127.0.0.1:9' },
  });
  await runtime.ready;
  const time = processorTime();
  await runtime.dispose();
  return time;
};

/**
 * The processor time, in milliseconds, that a Worker takes to start, without and with a gateway that stores its data in
 * an object. The time of a Worker that does nothing, and imports none of Node's modules, is subtracted. They run one
 * after another, so that other load slows all of them.
 */
export const measureStartups = async (
  alone: EdgeBundle,
  withGateway: EdgeBundle,
): Promise<{ readonly alone: number; readonly withGateway: number }> => {
  const times = { empty: [] as number[], alone: [] as number[], withGateway: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.empty.push(await measureStart([{ type: 'ESModule', path: 'worker.js', contents: empty }]));
    times.alone.push(await measureStart(modulesOf(alone)));
    times.withGateway.push(await measureStart(modulesOf(withGateway), true));
  }
  const nothing = median(times.empty);
  return { alone: median(times.alone) - nothing, withGateway: median(times.withGateway) - nothing };
};
