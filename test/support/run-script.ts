import { Readable } from 'node:stream';
import { vi } from 'vitest';

/** How a command ended, and its output. */
export interface ScriptEnd {
  readonly status: number;
  readonly out: string;
  readonly error: string;
  /** Both outputs, in the order in which they were written. */
  readonly text: string;
}

type Variables = Readonly<Record<string, string>>;

let runs = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of `scripts/` in this process, as often as needed: a process of its own would spend most of its time
 * starting. Commands run one after another, because arguments and variables belong to the process. If a test has to
 * kill or limit a command, or run two at once, it starts processes.
 */
export const runScript = (
  name: string,
  parameters: readonly string[],
  options: { readonly environment?: Variables; readonly input?: string } = {},
): Promise<ScriptEnd> => {
  const run = last.then(() => runAlone(name, parameters, options));
  last = run.catch(() => undefined);
  return run;
};

const runAlone = async (
  name: string,
  parameters: readonly string[],
  { environment = {}, input = '' }: Parameters<typeof runScript>[2] & object,
): Promise<ScriptEnd> => {
  const said: { out: boolean; text: string }[] = [];
  const hear = (out: boolean) => (text: string | Uint8Array) => said.push({ out, text: String(text) }) > 0;
  const { argv, exitCode, env } = process;
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
  const listeners = [
    vi.spyOn(process.stdout, 'write').mockImplementation(hear(true)),
    vi.spyOn(process.stderr, 'write').mockImplementation(hear(false)),
  ];
  process.argv = [argv[0] ?? 'node', `scripts/${name}.ts`, ...parameters];
  process.env = { ...env, ...environment };
  process.exitCode = undefined;
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([input]) });
  try {
    // A script does its work when it is loaded. With another address it is loaded again, but its imports are not.
    await import(/* @vite-ignore */ `../../scripts/${name}.ts?run=${++runs}`);
    const words = (out?: boolean) =>
      said.flatMap((one) => (out === undefined || one.out === out ? one.text : [])).join('');
    return { status: Number(process.exitCode ?? 0), out: words(true), error: words(false), text: words() };
  } finally {
    for (const listener of listeners) listener.mockRestore();
    Object.defineProperty(process, 'stdin', stdin);
    process.env = env;
    process.argv = argv;
    process.exitCode = exitCode;
  }
};
