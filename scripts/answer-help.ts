/** Where `--help` is among the arguments, prints how a command is used, and ends. */
export const answerHelp = (usage: string): void => {
  if (!process.argv.slice(2).some((one) => one === '--help' || one === '-h')) return;
  process.stdout.write(usage);
  process.exit(0);
};
