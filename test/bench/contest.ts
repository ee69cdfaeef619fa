import type { Built } from './builds.ts';
import { type LoadResult, runLoad } from './load.ts';
import { count, type Figure, milliseconds } from './report.ts';
import type { Server } from './servers.ts';
import { median } from './statistics.ts';
import { Missing, tell, type Workshop } from './workshop.ts';

/** The number of rounds, of which the median counts. */
export const rounds = 5;
const load = { connections: 32, duration: 4 };

/** Servers that get the same requests, in turn. */
export interface Contest {
  readonly built: Built;
  readonly paths: readonly string[];
  /** Ours is the first. */
  readonly contestants: readonly (readonly [name: string, start: () => Promise<Server>])[];
  /** The headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What the results count. */
  readonly what: string;
  /** The share of a peer's result that ours has to reach. */
  readonly target: { readonly peer: string; readonly ratio: number };
  /** Called when all servers have started, before the measurement. Throws if they answer differently. */
  readonly check?: (addresses: readonly string[]) => Promise<void>;
}

interface Measured {
  readonly name: string;
  readonly results: LoadResult[];
  /** Processor time for each request, in microseconds. */
  readonly costs: number[];
}

const rateOf = ({ results }: Measured): number => median(results.map(({ perSecond }) => perSecond));

/** Measures the servers round by round, and compares ours with each of the others. */
export const runContest = async (workshop: Workshop, contest: Contest): Promise<Figure[]> => {
  const { built, paths, what, target, headers = {} } = contest;
  const measureRound = async (server: Server, into: Measured) => {
    const before = server.processorSeconds();
    const result = await runLoad(workshop, server.address, paths, { ...load, headers });
    const after = server.processorSeconds();
    if (result.errors > 0) throw new Error(`${into.name} answered ${result.errors} requests with errors`);
    into.results.push(result);
    if (before !== undefined && after !== undefined) {
      into.costs.push(((after - before) / (result.perSecond * load.duration)) * 1e6);
    }
  };
  const servers: { server: Server; measured: Measured }[] = [];
  let note: string | undefined;
  for (const [name, start] of contest.contestants) {
    try {
      servers.push({ server: await start(), measured: { name, results: [], costs: [] } });
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      note = error.message;
    }
  }
  await contest.check?.(servers.map(({ server }) => server.address));
  for (const { server, measured } of servers) {
    // Each server first gets one round that does not count, to fill its memory.
    await measureRound(server, { ...measured, results: [], costs: [] });
  }
  for (let round = 0; round < rounds; round++) {
    tell(`${what}, round ${round + 1} of ${rounds}`);
    for (const { server, measured } of servers) await measureRound(server, measured);
  }
  for (const { server } of servers) await server.stop();

  const input = `${built.input.name}, ${paths.length.toLocaleString('en')} documents`;
  const [ours, ...peers] = servers.map(({ measured }) => measured);
  if (ours === undefined) throw new Error('no server was measured');
  const figures = [ours, ...peers].map((measured): Figure => {
    const { name, results, costs } = measured;
    const cost = costs.length === 0 ? '' : `; ${median(costs).toFixed(1)} µs of processor time each`;
    const p99 = milliseconds(median(results.map((result) => result.p99)));
    return { figure: `${what} a second: ${name}`, input, measured: `${count(rateOf(measured))}, p99 ${p99}${cost}` };
  });
  for (const peer of peers) {
    // Compared round by round, because the load of the machine changes between rounds.
    const ratios = ours.results.map(
      ({ perSecond }, round) => perSecond / (peer.results[round]?.perSecond ?? Number.NaN),
    );
    const ratio = median(ratios);
    const judged = peer.name === target.peer ? { target: `≥ ${target.ratio}`, met: ratio >= target.ratio } : {};
    const each = ratios.map((one) => one.toFixed(2)).join(', ');
    const measured = `${ratio.toFixed(2)} (${each})`;
    figures.push({ figure: `${ours.name} against ${peer.name}`, input, measured, ...judged });
  }
  if (note !== undefined) {
    figures.push({ figure: `${ours.name} against ${target.peer}`, input, measured: `skipped: ${note}` });
  }
  return figures;
};
