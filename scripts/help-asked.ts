import { exitCodes } from './exit-codes.ts';

/** Thrown if `--help` is among the arguments of a command. */
export class HelpAsked extends Error {
  override name = 'HelpAsked';
}

/** Whether `--help` is among the arguments. */
const isHelpAsked = (): boolean => process.argv.slice(2).some((one) => one === '--help' || one === '-h');

/** @throws HelpAsked if it is */
export const assertNoHelp = (): void => {
  if (isHelpAsked()) throw new HelpAsked();
};

/**
 * The arguments of a command that only takes files. Undefined after it printed how it is called, because that was asked
 * for or no argument was given.
 */
export const readFiles = (usage: string): readonly string[] | undefined => {
  const files = process.argv.slice(2);
  if (files.length > 0 && !isHelpAsked()) return files;
  (files.length > 0 ? process.stdout : process.stderr).write(`Usage: ${usage}\n`);
  process.exitCode = files.length > 0 ? exitCodes.done : exitCodes.usage;
  return undefined;
};
