/** Thrown where `--help` is among the arguments of a command. */
export class HelpAsked extends Error {
  override name = 'HelpAsked';
}

/** @throws HelpAsked where it is */
export const assertNoHelp = (): void => {
  if (process.argv.slice(2).some((one) => one === '--help' || one === '-h')) throw new HelpAsked();
};
