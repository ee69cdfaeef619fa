/**
 * How a command ended, for the program that started it: a scheduler, a script, `npm start`. Commands guarantee these
 * numbers (docs/builds.md). A process that a signal stopped ends with 128 plus the signal's number, as in shells.
 */
export const exitCodes = {
  done: 0,
  /** A command could not do what it was asked for. For a build: no repository gave anything usable, now or before. */
  nothingUsable: 1,
  usage: 2,
  /** Published, but more repositories are stale or failed than `--fail-on-stale` allows. */
  manyStale: 3,
  /** Something waits for the operator's decision; `npm run accept` says what. */
  needsWord: 4,
  /** Not one repository could be reached, and nothing is known of any from before. */
  unreachable: 5,
  /** The build itself failed: a full disk, a page that cannot be rendered. The message says what is published. */
  failed: 6,
  /**
   * Another build holds the state or the output folder. For an upload, a mirror and a bundle: another one with the same
   * destination is running.
   */
  busy: 7,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

// The codes by which shells report a process that SIGTERM or SIGINT ended.
const stoppedCodes: ReadonlySet<number> = new Set([143, 130]);

// Codes of a build that has published. It has said what is wrong.
const publishedCodes: ReadonlySet<number> = new Set([exitCodes.done, exitCodes.manyStale, exitCodes.needsWord]);

/**
 * What a command does after the build that it waited for, by the build's exit code: it serves what was published, ends
 * in the same way because somebody stopped it, or fails.
 */
export const chooseNext = (code: number): 'serve' | 'end' | 'fail' => {
  if (stoppedCodes.has(code)) return 'end';
  return publishedCodes.has(code) ? 'serve' : 'fail';
};

/** The exit codes of a build, for its help, a line each. docs/builds.md says what to do then. */
export const buildEndings = [
  [exitCodes.done, 'done'],
  [exitCodes.nothingUsable, 'nothing usable: no repository gave anything, now or before; nothing was published'],
  [exitCodes.usage, 'bad usage: a flag or variable, the manifest, the safety list or service.yaml'],
  [exitCodes.manyStale, 'published, but more repositories than --fail-on-stale are stale or failed'],
  [exitCodes.needsWord, "something needs the operator's word: npm run accept"],
  [exitCodes.unreachable, 'no repository could be reached, and nothing is known from before'],
  [exitCodes.failed, 'the build failed; the message says what stands of what was published before'],
  [exitCodes.busy, 'another build holds the state or the output folder'],
  [130, 'stopped by SIGINT; what had been crawled was published'],
  [143, 'stopped by SIGTERM, likewise'],
] as const;

/** The exit codes of a command that does one thing. `what` is what it could not do. */
export const plainEndings = (what: string) =>
  [
    [exitCodes.done, 'done'],
    [exitCodes.nothingUsable, `${what}; the message says why`],
    [exitCodes.usage, 'bad usage'],
  ] as const;

/** The same for a command of which only one may run at a time. `another` names the other that is running. */
export const aloneEndings = (what: string, another: string) =>
  [...plainEndings(what), [exitCodes.busy, another]] as const;
