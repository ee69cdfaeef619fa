import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '../../src/contract/paths.ts';
import { startCountedTaking, type TakingCosts } from '../support/edge-costs.ts';
import { type EdgeBundle, type EdgeRuntime, makeEdgeBundle, runEdge } from '../support/edge-runtime.ts';
import { listRecords } from './bench-records.ts';
import { type Built, runBuild } from './builds.ts';
import { measureStartups } from './edge-startup.ts';
import { largeInput } from './inputs.ts';
import { composeQuestions, questionMix } from './questions.ts';
import { composeFigures, count, type Figure, milliseconds, seconds } from './report.ts';
import { startOurs } from './servers.ts';
import { startSmallRepository } from './small-repository.ts';
import { percentile } from './statistics.ts';
import { type Part, tell, type Workshop } from './workshop.ts';

const rounds = 3;
const switches = 3;
/** One question in five of the 500, so that the part ends within minutes. */
const everyNth = 5;

interface Published extends Built {
  /** Publishes a new generation in which one package of the small repository has changed. */
  goOn(): Promise<void>;
}

const publish = async (workshop: Workshop): Promise<Published> => {
  const input = await largeInput(workshop);
  const small = await startSmallRepository(workshop);
  const manifest = workshop.path('edge.json');
  writeFileSync(manifest, JSON.stringify([...JSON.parse(readFileSync(input.manifest, 'utf8')), small.entry]));
  const [state, out] = [workshop.path('edge', 'state'), workshop.path('edge', 'dist')];
  const build = () => runBuild(manifest, state, out, ['--portions']);
  tell('building what the edge follows');
  const cold = await build();
  return {
    ...{ input, state, out, cold },
    goOn: async () => {
      small.change();
      await build();
    },
  };
};

/** After this many milliseconds a generation is not expected to come in force any more. */
const patience = 900_000;

const untilTaken = async (edge: EdgeRuntime, number: number): Promise<void> => {
  const end = performance.now() + patience;
  let told = 0;
  while ((edge.taken() ?? 0) < number) {
    for (; told < edge.lines.length; told++) {
      const { event, message } = edge.lines[told] ?? {};
      if (event !== 'generation-taken') tell(`the edge says: ${event}: ${message}`);
    }
    if (performance.now() > end) throw new Error(`generation ${number} is not in force`);
    await sleep(10);
  }
};

const ask = async (address: string): Promise<number> => {
  const began = performance.now();
  const answer = await fetch(address, { headers: { 'accept-encoding': 'identity' } });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`${address} answered ${answer.status}`);
  return performance.now() - began;
};

/** Times the same questions at both servers, one after the other, so that other load slows both. */
const measureBoth = async (questions: readonly string[], addresses: readonly string[]): Promise<number[][]> => {
  const times: number[][] = addresses.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const question of questions) {
      for (const [index, address] of addresses.entries()) {
        const path = `/v2${operations.packageSearch.address}?q=${encodeURIComponent(question)}&limit=100`;
        const time = await ask(address + path);
        // The first round only fills caches.
        if (round > 0) times[index]?.push(time);
      }
    }
  }
  return times;
};

const measureSwitches = async (published: Published, edge: EdgeRuntime): Promise<Figure> => {
  let [asked, failed, isOver] = [0, 0, false];
  const target = `${edge.address}/v2/jailbreak/package/com.example.small0`;
  const reading = (async () => {
    while (!isOver) {
      asked++;
      await ask(target).catch(() => failed++);
    }
  })();
  const taking: number[] = [];
  for (let index = 0; index < switches; index++) {
    await published.goOn();
    const began = performance.now();
    await untilTaken(edge, index + 2);
    taking.push((performance.now() - began) / 1000);
  }
  isOver = true;
  await reading;
  return {
    figure: 'requests lost while generations change',
    input: `${published.input.name}, ${switches} generations`,
    measured: `${failed} of ${count(asked)}; in force ${taking.map(seconds).join(', ')} after the build (the first goes into the empty object)`,
    target: '0',
    met: failed === 0,
  };
};

/** What the platform would bill for the whole publication, and for one changed package in it. */
const measureCosts = async (published: Published, address: string): Promise<Figure[]> => {
  const { take, stop } = await startCountedTaking(address);
  try {
    tell('counting the rows of all');
    const all = await take();
    await published.goOn();
    tell('counting the rows of one changed package');
    const one = await take();
    const figureOf = (figure: string, { read, written }: TakingCosts): Figure => ({
      ...{ figure, input: published.input.name },
      measured: `${count(written)} written, ${count(read)} read`,
    });
    return [figureOf('rows of the first generation', all), figureOf('rows of one changed package', one)];
  } finally {
    await stop();
  }
};

const bundleFigure = (figure: string, { compressed }: EdgeBundle): Figure => ({
  figure,
  input: '',
  measured: `${count(compressed)} bytes`,
  target: '< 150,000',
  met: compressed < 150_000,
});

const startupFigure = (figure: string, startup: number): Figure => ({
  ...{ figure, input: '', measured: milliseconds(startup) },
  ...{ target: '< 50 ms', met: startup < 50 },
});

/** The function at the edge, beside the server of the build. */
export const edgePart: Part = {
  summary: 'the function in the runtime of an edge host: taking generations, and search beside the server',
  run: async (workshop) => {
    const published = await publish(workshop);
    const server = await startOurs(workshop, published, ['--answer-memory', '0']);
    const bundle = await makeEdgeBundle();
    const withGateway = await makeEdgeBundle({ kind: 'object', publicAddress: 'https://index.invalid' });
    workshop.atEnd(() => {
      for (const { folder } of [bundle, withGateway]) rmSync(path.dirname(folder), { recursive: true });
    });
    const startups = await measureStartups(bundle, withGateway);
    tell(`start-up in workerd: ${milliseconds(startups.alone)}, with a gateway ${milliseconds(startups.withGateway)}`);
    const storage = workshop.path('edge', 'storage');
    const following = await runEdge(bundle, { source: { address: server.address }, storage });
    workshop.atEnd(() => following.kill());
    tell('taking the first generation');
    const began = performance.now();
    await fetch(`${following.address}/livez`);
    await untilTaken(following, 1);
    const first = (performance.now() - began) / 1000;
    const questions = composeQuestions(listRecords(published.state)).filter((_, index) => index % everyNth === 0);
    tell(`the first generation was in force after ${seconds(first)}; asking both`);
    const [node = [], atEdge = []] = await measureBoth(questions, [server.address, following.address]);
    const compare = (name: string, share: number, most: number): Figure => {
      const [theirs, ours] = [percentile(node, share), percentile(atEdge, share)];
      return {
        figure: `search through HTTP, ${name}: at the edge, and on Node`,
        input: published.input.name,
        measured: `${milliseconds(ours)}, ${milliseconds(theirs)}: ${(ours / theirs).toFixed(2)} times`,
        target: `≤ ${most} times`,
        met: ours <= most * theirs,
      };
    };
    const searched = [compare('p50', 0.5, 3), compare('p99', 0.99, 4)];
    for (const { figure, measured } of searched) tell(`${figure}: ${measured}`);
    tell('changing generations');
    const figures = [
      { figure: 'the first generation in force', input: published.input.name, measured: seconds(first) },
      ...searched,
      await measureSwitches(published, following),
      ...(await measureCosts(published, server.address)),
      startupFigure('start-up in workerd, processor time beside a Worker that does nothing', startups.alone),
      startupFigure('the same with a gateway in an object', startups.withGateway),
      bundleFigure('the bundle, compressed', bundle),
      bundleFigure('the same with a gateway in an object', withGateway),
    ];
    return `${composeFigures(figures)}\n${questions.length} questions, 100 records each: ${questionMix}. ${rounds} rounds, one question after the other at both.\n`;
  },
};
