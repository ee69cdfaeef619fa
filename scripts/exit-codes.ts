/**
 * How a command ended, for whoever started it: a scheduler, a script, `npm start`. The numbers are part of what the
 * commands promise (docs/builds.md). A process that a signal stopped ends with 128 and its number, as shells have it.
 */
export const exitCodes = {
  done: 0,
  /** A command could not do what it was asked for; of a build: no repository gave anything usable, now or before. */
  nothingUsable: 1,
  usage: 2,
  /** Published, and more of the repositories are stale or failed than `--fail-on-stale` allows. */
  manyStale: 3,
  /** Something waits for the operator's word: `npm run accept` says what. */
  needsWord: 4,
  /** Not one repository could be reached, and nothing of any is known from before. */
  unreachable: 5,
  /** The build itself failed: a full disk, a page that cannot be rendered. The message says what stands. */
  failed: 6,
  /** Another build holds the state or the output folder; of an upload, a mirror and a bundle: another one is under way to the same place. */
  busy: 7,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

// Shells' own way to tell of a process that a signal ended, SIGTERM or SIGINT.
const stoppedCodes: ReadonlySet<number> = new Set([143, 130]);

// Published all the same; the build has said what is amiss.
const publishedCodes: ReadonlySet<number> = new Set([exitCodes.done, exitCodes.manyStale, exitCodes.needsWord]);

/**
 * What a command does that waited for a build, by how that ended: serves what it published, ends as it did since somebody
 * stopped it, or fails.
 */
export const chooseNext = (code: number): 'serve' | 'end' | 'fail' => {
  if (stoppedCodes.has(code)) return 'end';
  return publishedCodes.has(code) ? 'serve' : 'fail';
};

/** How a build ends, in a line each, for its help; docs/builds.md says what to do then. */
export const buildEndings = [
  [exitCodes.done, 'done'],
  [exitCodes.nothingUsable, 'nothing usable: no repository gave anything, now or before; nothing was published'],
  [exitCodes.usage, 'bad usage: a flag, or the manifest'],
  [exitCodes.manyStale, 'published, but more repositories than --fail-on-stale are stale or failed'],
  [exitCodes.needsWord, "something needs the operator's word: npm run accept"],
  [exitCodes.unreachable, 'no repository could be reached, and nothing is known from before'],
  [exitCodes.failed, 'the build failed; the message says what stands of what was published before'],
  [exitCodes.busy, 'another build holds the state or the output folder'],
  [130, 'stopped by SIGINT; what had been crawled was published'],
  [143, 'stopped by SIGTERM, likewise'],
] as const;

/** How a command ends of which one at a time may do something: `what` it could not do, or that `another` is under way. */
export const aloneEndings = (what: string, another: string) =>
  [
    [exitCodes.done, 'done'],
    [exitCodes.nothingUsable, `${what}; the message says why`],
    [exitCodes.usage, 'bad usage'],
    [exitCodes.busy, another],
  ] as const;
