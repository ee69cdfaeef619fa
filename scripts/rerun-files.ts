import { readFiles } from './help-asked.ts';
import { chooseAgain } from './reports/again.ts';

// Prints the files that .ci/run tries once more, one on each line.
const [report] = readFiles('npm run ci:rerun -- REPORT') ?? [];
if (report !== undefined) for (const file of chooseAgain(report)) process.stdout.write(`${file}\n`);
