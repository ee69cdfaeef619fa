import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type SafetyEntry, safetyEntriesSchema } from '../../src/contract/safety.ts';
import { readYaml } from '../../src/contract/yaml.ts';
import { createSafetyList, type SafetyList } from '../../src/safety/safety-list.ts';

/** The safety list that ships with the project. */
export const safetyFile = new URL('../../data/safety.yaml', import.meta.url);

/** A safety list that cannot be used; the message names the file and every mistake in it, in one line. */
export class SafetyListInvalid extends Error {
  override name = 'SafetyListInvalid';
}

// A build reads its list more than once, and so do servers that share a process: the same text means the same.
let known: { readonly text: string; readonly entries: readonly SafetyEntry[] } | undefined;

/** What `read` makes of a file. Throws SafetyListInvalid where it cannot. */
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

/** Which entry is meant, as a person finds it: counted from 1, with its host where it has one. */
const nameEntry = (list: unknown, index: PropertyKey | undefined): string => {
  if (typeof index !== 'number') return 'the list';
  const host: unknown = Array.isArray(list) ? list[index]?.host : undefined;
  return `entry ${index + 1}${typeof host === 'string' ? ` (${host})` : ''}`;
};

/** The mistakes that the schema does not see: hosts that are none. */
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
  // An empty file is how a list is lost, and with an empty list every address passes for safe.
  if (Array.isArray(list) && list.length === 0) {
    throw new SafetyListInvalid(
      `The safety list ${where} has no entry, and every address would pass for safe: write at least one, such as those of data/safety.yaml of the project.`,
    );
  }
  const { data, error } = safetyEntriesSchema.safeParse(list);
  const mistakes =
    data === undefined
      ? error.issues.map(({ path: [index, ...fields], message }) =>
          [[nameEntry(list, index), ...fields.map(String)].join(', '), message].join(': '),
        )
      : hostMistakes(data);
  if (data !== undefined && mistakes.length === 0) return data;
  throw new SafetyListInvalid(`The safety list ${where} has mistakes: ${mistakes.join('; ')}`);
};

/** The entries of a safety list in a YAML file, of which there is at least one. Throws SafetyListInvalid. */
export const readSafetyEntries = (file: URL): SafetyEntry[] => {
  const text = fromFile(file, () => readFileSync(file, 'utf8'));
  if (known?.text !== text) known = { text, entries: parseEntries(file, text) };
  return [...known.entries];
};

/** The safety list of a YAML file. Throws SafetyListInvalid. */
export const readSafetyList = (file: URL): SafetyList => createSafetyList(readSafetyEntries(file));

/** How often, in milliseconds, a running server looks whether its safety list has changed. */
const lookInterval = 10_000;

const stateOf = (file: URL): string => {
  const { ino, mtimeNs, size } = fromFile(file, () => statSync(file, { bigint: true }));
  return `${ino}-${mtimeNs}-${size}`;
};

/** A safety list that follows its file. */
interface WatchedSafetyList extends SafetyList {
  /** Ends the watching. */
  close(): void;
}

/**
 * The safety list of a YAML file, read anew when the file has changed (decisions, section 7: within a minute). Throws
 * SafetyListInvalid where it has mistakes at first; later the last good list stays in force, and what is wrong is
 * told once for each state of the file and each reason why it cannot be read, which is tried again at every look.
 */
export const watchSafetyList = (
  file: URL,
  tell: (reason: string) => void,
  interval: number = lookInterval,
): WatchedSafetyList => {
  let state = stateOf(file);
  let list = readSafetyList(file);
  let reported: string | undefined;
  // Only what was read is taken for seen: what could not be may be a lack of descriptors, which passes.
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
    close: () => clearInterval(timer),
  };
};
