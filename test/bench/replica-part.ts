import { hash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generationPath, generationSchema } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { readInventoryOf } from '../support/inventory.ts';
import { runBuild } from './builds.ts';
import { formatRequest, runLoad as runRequests } from './http-load.ts';
import { largeInput } from './inputs.ts';
import { loadTool, runLoad } from './load.ts';
import { npmScript, type Running, startProcess } from './processes.ts';
import { composeFigures, count, type Figure, megabytes, milliseconds, seconds } from './report.ts';
import { startOurs } from './servers.ts';
import { startSmallRepository } from './small-repository.ts';
import { createRandom, median, percentile, shuffle } from './statistics.ts';
import { type Part, tell, type Workshop } from './workshop.ts';

const switches = 10;
const lookups = 1000;
const rounds = 5;
const load = { connections: 32, duration: 4 };
const readersAtOnce = 16;
/** The package of the small repository whose version identifies the generation. */
const changing = 'com.example.small0';

interface Replicated {
  readonly out: string;
  readonly origin: string;
  readonly replica: string;
  readonly process: Running;
  /** Publishes a new generation with one changed package. Resolves when the build has ended. */
  goOn(): Promise<void>;
}

const generationOf = (out: string) =>
  generationSchema.parse(JSON.parse(readFileSync(path.join(out, generationPath.current), 'utf8')));

/** The paths of the documents of the generation in force, with the SHA-256 of each. */
const readDocuments = (out: string): Map<string, string> => {
  const all = [...readInventoryOf(out, generationOf(out).documents)];
  // Left out: the status of builds, for which a replica redirects to the builder.
  return new Map(all.filter(([file]) => file.startsWith('v2/') && file !== documentPath.status));
};

const fetchBytes = (address: string, agent: Agent): Promise<{ status: number | undefined; body: Buffer }> =>
  new Promise((resolve, reject) => {
    get(address, { agent }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => resolve({ status: response.statusCode, body: Buffer.concat(pieces) }));
      response.on('error', reject);
    }).on('error', reject);
  });

const start = async (workshop: Workshop): Promise<Replicated & { readonly firstTake: number }> => {
  const large = await largeInput(workshop);
  const small = await startSmallRepository(workshop);
  const manifest = workshop.path('replicated.json');
  writeFileSync(manifest, JSON.stringify([...JSON.parse(readFileSync(large.manifest, 'utf8')), small.entry]));
  const [state, out] = [workshop.path('replicated', 'state'), workshop.path('replicated', 'dist')];
  const goOn = async () => {
    small.change();
    await runBuild(manifest, state, out);
  };
  tell('building what is replicated');
  await goOn();
  const origin = await startOurs(workshop, {
    input: large,
    state,
    out,
    cold: { seconds: 0, processorSeconds: 0, peak: 0, stdout: '' },
  });
  const began = performance.now();
  const flags = ['--from', origin.address, '--state', workshop.path('replica'), '--port', '0', '--rate-limit', '0'];
  const started = await startProcess(
    process.execPath,
    [...npmScript('serve'), ...flags, '--poll-interval', '1s'],
    /^Listening on /,
  );
  workshop.atEnd(() => started.stop());
  const replica = started.line.replace('Listening on ', '');
  while ((await fetch(`${replica}/v2/readyz`)).status !== 200) await sleep(10);
  const firstTake = performance.now() - began;
  return { out, origin: origin.address, replica, process: started, goOn, firstTake };
};

const compareAll = async ({ out, replica }: Replicated): Promise<Figure> => {
  const documents = readDocuments(out);
  const agent = new Agent({ keepAlive: true, maxSockets: readersAtOnce });
  const queue = documents.entries();
  const began = performance.now();
  let differing = 0;
  await Promise.all(
    Array.from({ length: readersAtOnce }, async () => {
      for (const [file, sha256] of queue) {
        const address = `${replica}/${file.split('/').map(encodeURIComponent).join('/')}`;
        const { status, body } = await fetchBytes(address, agent);
        if (status !== 200 || hash('sha256', body) !== sha256) differing++;
      }
    }),
  );
  agent.destroy();
  const took = (performance.now() - began) / 1000;
  return {
    figure: 'answers that are not the published document, byte for byte',
    input: `all ${count(documents.size)} documents`,
    measured: `${differing} (asked in ${seconds(took)})`,
    target: '0',
    met: differing === 0,
  };
};

const compareLookups = async (workshop: Workshop, { out, origin, replica }: Replicated): Promise<Figure[]> => {
  const prefix = path.posix.dirname(documentPath.package('a'));
  const all = [...readDocuments(out).keys()].filter((file) => file.startsWith(`${prefix}/`)).map((file) => `/${file}`);
  const paths = shuffle(all, createRandom(1));
  const measure = async (input: string, asked: readonly string[]): Promise<Figure> => {
    const rates: [ours: number[], theirs: number[]] = [[], []];
    for (let round = 0; round <= rounds; round++) {
      for (const [index, address] of [replica, origin].entries()) {
        const { perSecond, errors } = await runLoad(workshop, address, asked, load);
        if (errors > 0) throw new Error(`${errors} lookups failed`);
        // The first round only fills caches.
        if (round > 0) rates[index]?.push(perSecond);
      }
    }
    const [ours, theirs] = rates.map((each) => median(each)) as [number, number];
    return {
      figure: 'lookups a second: a replica, and the server of the build',
      input,
      measured: `${count(ours)}, ${count(theirs)}; ${(ours / theirs).toFixed(2)}`,
    };
  };
  return [
    await measure(`the same ${count(lookups)} documents`, paths.slice(0, lookups)),
    await measure(`${count(paths.length)} documents`, paths),
  ];
};

const memoryOf = (pid: number): number => {
  const text = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
  return Number(/VmHWM:\s*(\d+)/.exec(text)?.[1] ?? Number.NaN) * 1024;
};

const measureSwitches = async (replicated: Replicated): Promise<Figure[]> => {
  const { out, replica, goOn } = replicated;
  const others = [...readDocuments(out).keys()].filter((file) => file.includes('/package/')).slice(0, lookups);
  const requests = others.map((file) => formatRequest('GET', `/${file}`));
  const lookup = `${replica}/${documentPath.package(changing)}`;
  const times: number[] = [];
  const slowest: number[] = [];
  let [asked, lost] = [0, 0];
  for (let round = 0; round < switches; round++) {
    tell(`switch ${round + 1} of ${switches}`);
    const before = await (await fetch(lookup)).text();
    const { number } = generationOf(out);
    const building = goOn();
    while (generationOf(out).number === number) await sleep(2);
    const published = performance.now();
    let isOver = false;
    let at = 0;
    const others = runRequests([replica], {
      connections: 4,
      seconds: 60,
      next: () => (isOver ? undefined : requests[at++ % requests.length]),
    });
    while ((await (await fetch(lookup)).text()) === before) await sleep(2);
    times.push(performance.now() - published);
    // The moments after a change, in which nothing is ready yet, count, too.
    await sleep(500);
    isOver = true;
    const { p99, statuses } = await others;
    slowest.push(p99);
    for (const [status, times] of statuses) {
      asked += times;
      if (status !== 200) lost += times;
    }
    await building;
  }
  const input = `${switches} generations, one package changed`;
  const [longest, p99] = [Math.max(...times), median(slowest)];
  return [
    {
      figure: 'from generation.json to the first answer of the new generation',
      input,
      measured: `${seconds(median(times) / 1000)}, at most ${seconds(longest / 1000)}`,
      target: '≤ 3 s',
      met: longest <= 3000,
    },
    {
      figure: 'requests lost meanwhile',
      input: `${count(asked)} lookups`,
      measured: String(lost),
      target: '0',
      met: lost === 0,
    },
    {
      figure: 'p99 of others meanwhile',
      input,
      measured: `${milliseconds(p99)}, at most ${milliseconds(percentile(slowest, 1))}`,
      target: '≤ 50 ms',
      met: p99 <= 50,
    },
  ];
};

/** A replica of a large publication. */
export const replicaPart: Part = {
  summary: 'a replica of a large publication: its answers, how soon a new generation is in force, its memory',
  run: async (workshop) => {
    const replicated = await start(workshop);
    const same = await compareAll(replicated);
    const lookupFigures = await compareLookups(workshop, replicated);
    const switchFigures = await measureSwitches(replicated);
    const again = await compareAll(replicated);
    const peak = memoryOf(replicated.process.child.pid ?? 0);
    const figures: Figure[] = [
      {
        figure: 'replica: start to ready, with nothing taken before',
        input: 'large',
        measured: seconds(replicated.firstTake / 1000),
      },
      same,
      ...lookupFigures,
      ...switchFigures,
      { ...again, figure: `${again.figure}, after that` },
      {
        figure: 'most memory of the replica',
        input: 'all of that',
        measured: megabytes(peak),
        target: '≤ 512 MB',
        met: peak <= 512e6,
      },
    ];
    return `${composeFigures(figures)}\nIt asks once a second. 32 connections for lookups, load by ${loadTool()}; medians of ${rounds} rounds, taken in turn.\n`;
  },
};
