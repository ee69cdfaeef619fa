import { readFileSync } from 'node:fs';
import type { Engine } from './engines.ts';
import { mean, median, percentile } from './statistics.ts';

/** What a separate process measured of an engine; times in milliseconds, memory in bytes. */
export interface SearchMeasure {
  /** From opening to the first answer. */
  readonly first: number;
  readonly p50: number;
  readonly p99: number;
  /** The 99th percentile over the questions, with the median time of each, which leaves out moments of other load. */
  readonly questionP99: number;
  readonly mean: number;
  /** Average processor time of an answer, including garbage collection. */
  readonly processor: number;
  readonly perSecond: number;
  /** Resident memory after all questions. */
  readonly resident: number;
  readonly slowest: readonly (readonly [question: string, milliseconds: number])[];
}

const limit = 100;

// `none` is an empty process, whose memory is subtracted from that of the others.
const [engineName = '', state = '', questionsFile = '', roundsText = ''] = process.argv.slice(2);
const rounds = Number(roundsText);
const questions: string[] = questionsFile === '' ? [] : JSON.parse(readFileSync(questionsFile, 'utf8'));

const measure = async (open: (state: string) => Engine | Promise<Engine>): Promise<SearchMeasure> => {
  const opened = performance.now();
  const engine = await open(state);
  await engine.answer('library', limit);
  const first = performance.now() - opened;
  // The first round fills caches and lets the compiler see the code.
  for (const question of questions) await engine.answer(question, limit);
  const times: number[] = [];
  const ofQuestion = new Map<string, number[]>(questions.map((question) => [question, []]));
  const usedBefore = process.cpuUsage();
  const started = performance.now();
  for (let round = 0; round < rounds; round++) {
    for (const question of questions) {
      const before = performance.now();
      await engine.answer(question, limit);
      const time = performance.now() - before;
      times.push(time);
      ofQuestion.get(question)?.push(time);
    }
  }
  const elapsed = performance.now() - started;
  const { user, system } = process.cpuUsage(usedBefore);
  const middle = [...ofQuestion].map(([question, own]): [string, number] => [question, median(own)]);
  globalThis.gc?.();
  const result = {
    first,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    questionP99: percentile(
      middle.map(([, time]) => time),
      0.99,
    ),
    mean: mean(times),
    processor: (user + system) / 1000 / times.length,
    perSecond: (times.length / elapsed) * 1000,
    resident: process.memoryUsage.rss(),
    slowest: middle.sort((a, b) => b[1] - a[1]).slice(0, 10),
  };
  await engine.close();
  return result;
};

if (engineName === 'none') {
  globalThis.gc?.();
  process.stdout.write(JSON.stringify({ resident: process.memoryUsage.rss() }));
} else {
  const { openMiniSearch, openOurs } = await import('./engines.ts');
  process.stdout.write(JSON.stringify(await measure(engineName === 'ours' ? openOurs : openMiniSearch)));
}
