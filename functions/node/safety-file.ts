import { readFileSync, statSync } from 'node:fs';
import { type SafetyEntry, safetyEntriesSchema } from '../../src/contract/safety.ts';
import { readYaml } from '../../src/contract/yaml.ts';
import { createSafetyList, type SafetyList } from '../../src/safety/safety-list.ts';

/** The safety list that ships with the project. */
export const safetyFile = new URL('../../data/safety.yaml', import.meta.url);

/** A safety list that cannot be used; the message names every mistake in it. */
export class SafetyListInvalid extends Error {
  override name = 'SafetyListInvalid';
}

// A build reads its list more than once, and so do servers that share a process: the same text means the same.
let known: { readonly text: string; readonly entries: readonly SafetyEntry[] } | undefined;

const readList = (text: string): unknown => {
  try {
    return readYaml(text);
  } catch (error) {
    throw new SafetyListInvalid(`The safety list cannot be read: ${(error as Error).message}`, { cause: error });
  }
};

/** The entries of a safety list in a YAML file. Throws SafetyListInvalid. */
export const readSafetyEntries = (file: URL): SafetyEntry[] => {
  const text = readFileSync(file, 'utf8');
  if (known?.text === text) return [...known.entries];
  const entries = safetyEntriesSchema.safeParse(readList(text));
  if (entries.success) {
    known = { text, entries: entries.data };
    return [...entries.data];
  }
  const mistakes = entries.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`);
  throw new SafetyListInvalid(`The safety list has mistakes:\n${mistakes.join('\n')}`);
};

/** The safety list of a YAML file. Throws SafetyListInvalid. */
export const readSafetyList = (file: URL): SafetyList => createSafetyList(readSafetyEntries(file));

/** How often, in milliseconds, a running server looks whether its safety list has changed. */
const lookInterval = 10_000;

const stateOf = (file: URL): string => {
  const { ino, mtimeNs, size } = statSync(file, { bigint: true });
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
 * reported once for each state of the file and each reason why it cannot be read, which is tried again at every look.
 */
export const watchSafetyList = (
  file: URL,
  report: (error: unknown) => void,
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
      if (fault !== reported) report(new Error(`The safety list stays as it was. ${reason}`, { cause: error }));
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
