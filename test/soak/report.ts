import type { Soak } from './run-soak.ts';
import { afterWarmUp, type BlockValue, computeTrend, isGrowing, type Point, type Trend } from './trend.ts';

const megabyte = 1e6;

interface Watched {
  readonly name: keyof Soak['points'];
  readonly title: string;
  readonly unit: string;
  readonly size: number;
  readonly by: BlockValue;
  /** What it may grow by in an hour though it surely grows. */
  readonly passed: number;
  /** The seconds after the warm-up from which on it is judged. */
  readonly judgedFrom: number;
}

// What was given back is not at once the system's: resident memory shows that for a long time, what is in use after a
// collection does not.
const watched: readonly Watched[] = [
  { name: 'resident', title: 'resident memory', unit: ' MB', size: 1e6, by: 'mean', passed: 30, judgedFrom: 2700 },
  { name: 'heap', title: 'heaps in use', unit: ' MB', size: 1e6, by: 'mean', passed: 5, judgedFrom: 240 },
  { name: 'buffers', title: 'buffers in use', unit: ' MB', size: 1e6, by: 'least', passed: 10, judgedFrom: 240 },
  { name: 'descriptors', title: 'open descriptors', unit: '', size: 1, by: 'mean', passed: 6, judgedFrom: 0 },
  { name: 'files', title: 'of these, no sockets', unit: '', size: 1, by: 'mean', passed: 3, judgedFrom: 0 },
];

const scale = (points: readonly Point[], size: number): Point[] =>
  points.map(({ at, value }) => ({ at, value: value / size }));

const count = (value: number): string => value.toLocaleString('en');
const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`;

const judge = (trend: Trend, { passed, judgedFrom }: Watched, measured: number): string => {
  if (isGrowing(trend, passed)) {
    return measured < judgedFrom ? `not judged before ${Math.round(judgedFrom / 45)} minutes` : 'GROWS';
  }
  return 'flat';
};

/** The lines on what the server holds, and what of it grows. */
const describeTrends = ({ points }: Soak): { lines: string[]; grows: string[] } => {
  const lines: string[] = [];
  const grows: string[] = [];
  for (const each of watched) {
    const { name, title, unit, size, by } = each;
    const measured = scale(afterWarmUp(points[name]), size);
    const trend = computeTrend(measured, by);
    if (trend === undefined) {
      lines.push(`  ${title.padEnd(22)}cannot be read on this system, or not for long enough`);
      continue;
    }
    const seconds = (measured.at(-1)?.at ?? 0) - (measured[0]?.at ?? 0);
    const verdict = judge(trend, each, seconds);
    if (verdict === 'GROWS') grows.push(title);
    lines.push(
      `  ${title.padEnd(22)}${trend.from.toFixed(1)} to ${trend.to.toFixed(1)}${unit}, at most ${trend.greatest.toFixed(1)}; ` +
        `${signed(trend.slope)} ± ${trend.error.toFixed(1)}${unit} an hour: ${verdict}`,
    );
  }
  return { lines, grows };
};

/** The slowest answer, of a hundred, that an honest client may get, in milliseconds. */
const slowestHonest = 250;
/** The most resident memory that a server may have, in bytes. */
const mostResident = 512e6;

const describeAbuses = ({ abuses, limitsMet }: Soak): string[] => {
  if (Object.keys(abuses).length === 0) return [];
  const rows = Object.entries(abuses).map(([name, counts]) => {
    const what = Object.entries(counts).map(([each, times]) => `${each} ${count(times)}`);
    return `  ${name.padEnd(27)}${what.join(', ')}`;
  });
  const limits = [...limitsMet].map(([limit, times]) => `  ${limit.padEnd(27)}${count(times).padStart(10)}`);
  return ['Abuses beside them, each from an address of its own:', ...rows, 'Limits that were met:', ...limits, ''];
};

const describeTimes = ({ tally }: Soak): string =>
  `Answers to honest clients: half within ${tally.percentile(50).toFixed(0)} ms, 99 of 100 within ` +
  `${tally.percentile(99).toFixed(0)} ms, all within ${tally.percentile(100).toFixed(0)} ms`;

const explanation = [
  '  From the line through the last three quarters of the time, by least squares; ± is its standard error. Something',
  '  grows where the slope is more than twice its error and more than this in an hour:',
  `  ${watched.map(({ title, passed, unit }) => `${title} ${passed}${unit}`).join(', ')}.`,
];

const describeRange = (values: readonly number[], digits: number): string =>
  values.length === 0
    ? 'none'
    : `${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)}, last ${values.at(-1)?.toFixed(digits)}`;

/** A line that tells how far a soak is. */
export const describeProgress = (soak: Soak, whole: number): string => {
  const { tally, builds, points, seconds } = soak;
  const resident = (points.resident.at(-1)?.value ?? 0) / megabyte;
  const heap = (points.heap.at(-1)?.value ?? 0) / megabyte;
  const descriptors = points.descriptors.at(-1)?.value;
  return [
    `${Math.round(seconds)} of ${whole} s: ${count(tally.totalRequests)} requests, ${tally.totalFailures} failed`,
    `p99 ${tally.percentile(99).toFixed(0)} ms`,
    `${builds.seconds.length} builds`,
    `${resident.toFixed(0)} MB resident, ${heap.toFixed(0)} MB heap`,
    ...(descriptors === undefined ? [] : [`${descriptors} descriptors`]),
  ].join('; ');
};

/** What came out, for people to read, and in one sentence for each fault what is wrong; none where nothing is. */
export const describeSoak = (soak: Soak): { text: string; faults: string[] } => {
  const { tally, builds, descriptors, leftovers, seconds } = soak;
  const trends = describeTrends(soak);
  const kinds = [...new Set([...tally.requests.keys(), ...tally.failures.keys()])];
  const { before, after } = descriptors;
  const text = [
    `Requests in ${seconds.toFixed(0)} s, and failures:`,
    ...kinds.map(
      (kind) =>
        `  ${kind.padEnd(26)}${count(tally.requests.get(kind) ?? 0).padStart(10)}${count(tally.failures.get(kind) ?? 0).padStart(8)}`,
    ),
    `  ${'together'.padEnd(26)}${count(tally.totalRequests).padStart(10)}${count(tally.totalFailures).padStart(8)}`,
    ...tally.examples.map((example) => `  ${example}`),
    '',
    describeTimes(soak),
    '',
    ...describeAbuses(soak),
    `Builds: ${builds.seconds.length}, each ${describeRange(builds.seconds, 1)} s; files after each: ${describeRange(builds.files, 0)}`,
    `Left behind by builds: ${leftovers.length} temporary files`,
    ...leftovers.slice(0, 10).map((file) => `  ${file}`),
    '',
    `The server, which had ${(soak.peak / megabyte).toFixed(0)} MB of resident memory at most:`,
    ...trends.lines,
    ...explanation,
    ...(before === undefined ? [] : [`  descriptors before the load ${before}, and when it was over ${after}`]),
    '',
  ].join('\n');
  const faults = [
    ...(tally.totalFailures > 0 ? [`${count(tally.totalFailures)} requests or builds failed.`] : []),
    ...(tally.percentile(99) > slowestHonest
      ? [`Honest clients waited ${tally.percentile(99).toFixed(0)} ms at p99, more than ${slowestHonest}.`]
      : []),
    ...(soak.peak > mostResident
      ? [
          `The server had ${(soak.peak / megabyte).toFixed(0)} MB of resident memory, more than ${mostResident / megabyte}.`,
        ]
      : []),
    ...trends.grows.map((title) => `The ${title} of the server grows.`),
    ...(leftovers.length > 0 ? [`Builds left ${leftovers.length} temporary files behind.`] : []),
  ];
  return { text, faults };
};
