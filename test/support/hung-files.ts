import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunnerTask, RunnerTestFile, TestProject } from 'vitest/node';

/** The folder in which each process of a run notes which file it runs (running-file.ts). */
export const noteFolder = (): string => process.env.DEBDEX_TESTS_RUNNING ?? tmpdir();

/** How often it is looked at most, in milliseconds. */
const interval = 5000;

/** Of what a hook and a test may take one after the other: so both can still say themselves that they took too long. */
const share = 1.1;

const testsIn = (task: RunnerTask): RunnerTask[] => ('tasks' in task ? task.tasks.flatMap(testsIn) : [task]);

const isOver = ({ result }: RunnerTask): boolean => result?.state === 'pass' || result?.state === 'fail';

const hasTimedOut = ({ result }: RunnerTask): boolean =>
  result?.errors?.some(({ message }) => /\btimed out in \d+ms/.test(message)) ?? false;

/** Whether there is such a process, which a signal reaches; 0 is none. */
const reach = (pid: number, signal: 'SIGKILL' | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};

/**
 * Ends the process of a test file that hangs; the file has failed then, and the run goes on with the others. The runner
 * itself waits for ever for a test that does not give back the processor. And where a test is given up after its limit
 * because a browser or a server of the file answers no more, each of those that follow waits for as long.
 */
export const setup = (project: TestProject): (() => void) => {
  const { root, testTimeout, hookTimeout } = project.config;
  const patienceFor = (tests: readonly RunnerTask[]): number => {
    const limits = tests.map((test) => ('timeout' in test && !isOver(test) ? test.timeout : 0));
    return (Math.max(testTimeout, ...limits) + hookTimeout) * share;
  };
  const notes = mkdtempSync(path.join(tmpdir(), 'debdex-running-'));
  process.env.DEBDEX_TESTS_RUNNING = notes;
  const seen = new Map<string, { readonly progress: string; readonly since: number }>();

  const whyHung = (note: string, running: string, file: RunnerTestFile | undefined): string | undefined => {
    // What hangs while it is loaded has no tests yet.
    const tests = file === undefined ? [] : testsIn(file);
    const isDone = file !== undefined && isOver(file);
    if (!isDone && tests.some(hasTimedOut)) return 'a test or a hook took too long';
    // A process whose file is done has another at once, or ends.
    const progress = `${running} ${isDone ? 'done' : tests.filter(isOver).length}`;
    const [before, now] = [seen.get(note), performance.now()];
    if (before?.progress !== progress) seen.set(note, { progress, since: now });
    else if (now - before.since > patienceFor(tests)) return 'no test has ended for too long';
    return undefined;
  };
  const look = (note: string, files: readonly RunnerTestFile[]): void => {
    const [place, pid] = [path.join(notes, note), Number(note)];
    if (!reach(pid, 0)) return void rmSync(place, { force: true });
    const running = readFileSync(place, 'utf8');
    const why = whyHung(
      note,
      running,
      files.find(({ filepath }) => filepath === running),
    );
    if (why === undefined) return;
    rmSync(place);
    process.stderr.write(`${path.relative(root, running)}: ${why}, so its process is ended\n`);
    reach(pid, 'SIGKILL');
  };
  const timer = setInterval(
    () => {
      // The folder of the run may have gone before this stops.
      if (!existsSync(notes)) return;
      const files = project.vitest.state.getFiles();
      for (const note of readdirSync(notes).filter((name) => /^\d+$/.test(name))) look(note, files);
    },
    Math.min(interval, testTimeout),
  );
  return () => {
    clearInterval(timer);
    rmSync(notes, { recursive: true, force: true });
  };
};
