import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sayMistake } from '../../src/contract/mistakes.ts';
import { type SafetyEntry, safetyEntriesSchema } from '../../src/contract/safety.ts';
import { readYaml } from '../../src/contract/yaml.ts';
import { createSafetyList, type SafetyList } from '../../src/safety/safety-list.ts';

/** The safety list that ships with the project. */
export const safetyFile = new URL('../../data/safety.yaml', import.meta.url);

/** A safety list that cannot be used. The message names the file and every mistake in it, in one line. */
export class SafetyListInvalid extends Error {
  override name = 'SafetyListInvalid';
}

// A build reads its list more than once, as do servers that share a process. The same text gives the same entries.
let known: { readonly text: string; readonly entries: readonly SafetyEntry[] } | undefined;

/** Calls `read` for a file, and turns what it throws into SafetyListInvalid. */
const fromFile = <T>(file: URL, read: (file: URL) => T): T => {
  try {
    return read(file);
  } catch (cause) {
    const where = fileURLToPath(file);
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const message = isMissing
      ? `There is no safety list ${where}: copy data/safety.yaml of the project there, or write your own.`
      : `The safety list ${where} cannot be read: ${(cause as Error).message}`;
    throw new SafetyListInvalid(message, { cause });
  }
};

const hasNothing = (text: string): boolean => text.split('\n').every((line) => /^\s*(?:#|$)/.test(line));

/** Names an entry so that a person finds it: its number, counted from 1, and its host if it has one. */
const nameEntry = (list: unknown, index: PropertyKey | undefined): string => {
  if (typeof index !== 'number') return 'the list';
  const host: unknown = Array.isArray(list) ? list[index]?.host : undefined;
  return `entry ${index + 1}${typeof host === 'string' ? ` (${host})` : ''}`;
};

/** Mistakes that the schema cannot express: hosts that are none. */
const hostMistakes = (entries: readonly SafetyEntry[]): string[] =>
  entries.flatMap((entry, index) => {
    try {
      createSafetyList([entry]);
      return [];
    } catch {
      return [`${nameEntry(entries, index)}, host: is no host name`];
    }
  });

const parseEntries = (file: URL, text: string): SafetyEntry[] => {
  const where = fileURLToPath(file);
  const list = hasNothing(text) ? [] : fromFile(file, () => readYaml(text));
  // An empty file is more likely a lost list, and with an empty list every address would count as safe.
  if (Array.isArray(list) && list.length === 0) {
    throw new SafetyListInvalid(
      `The safety list ${where} has no entry, and every address would pass for safe: write at least one, such as those of data/safety.yaml of the project.`,
    );
  }
  const { data, error } = safetyEntriesSchema.safeParse(list, { error: sayMistake });
  const mistakes =
    data === undefined
      ? error.issues.map(({ path: [index, ...fields], message }) =>
          [[nameEntry(list, index), ...fields.map(String)].join(', '), message].join(': '),
        )
      : hostMistakes(data);
  if (data !== undefined && mistakes.length === 0) return data;
  throw new SafetyListInvalid(`The safety list ${where} has mistakes: ${mistakes.join('; ')}`);
};

/** Reads the entries of a safety list from a YAML file. There is at least one. Throws SafetyListInvalid. */
export const readSafetyEntries = (file: URL): SafetyEntry[] => {
  const text = fromFile(file, () => readFileSync(file, 'utf8'));
  if (known?.text !== text) known = { text, entries: parseEntries(file, text) };
  return [...known.entries];
};

/** Reads the safety list from a YAML file. Throws SafetyListInvalid. */
export const readSafetyList = (file: URL): SafetyList => createSafetyList(readSafetyEntries(file));

/** How often, in milliseconds, a running server checks whether its safety list has changed. */
const lookInterval = 10_000;

const stateOf = (file: URL): string => {
  const { ino, mtimeNs, size } = fromFile(file, () => statSync(file, { bigint: true }));
  return `${ino}-${mtimeNs}-${size}`;
};

/** A safety list that follows its file. */
export interface WatchedSafetyList extends SafetyList {
  /** Looks at once whether the file has changed. */
  look(): void;
  /** Stops following the file. */
  close(): void;
}

/**
 * A safety list that follows its YAML file (decisions, section 7: within a minute). Throws SafetyListInvalid if the
 * list has mistakes at first. Later the last good list stays in force, and a mistake is reported once for each state of
 * the file. If the file cannot be read, each reason is reported once, and reading is tried again at every check.
 */
export const watchSafetyList = (
  file: URL,
  tell: (reason: string) => void,
  interval: number = lookInterval,
): WatchedSafetyList => {
  let state = stateOf(file);
  let list = readSafetyList(file);
  let reported: string | undefined;
  // Only a state that could be read counts as seen: a failure, such as a lack of file descriptors, may pass.
  const look = (): void => {
    let found = 'away';
    try {
      found = stateOf(file);
      if (found !== state) list = readSafetyList(file);
      state = found;
      reported = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const fault = `${found} ${reason}`;
      if (fault !== reported) tell(reason);
      reported = fault;
    }
  };
  const timer = setInterval(look, interval).unref();
  return {
    check: (uri) => list.check(uri),
    get listed() {
      return list.listed;
    },
    look,
    close: () => clearInterval(timer),
  };
};
