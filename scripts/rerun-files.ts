import { readFiles } from './help-asked.ts';
import { chooseAgain } from './reports/again.ts';

// The files that .ci/run tries once more: each on a line of its own.
const [report] = readFiles('npm run ci:rerun -- REPORT') ?? [];
if (report !== undefined) for (const file of chooseAgain(report)) process.stdout.write(`${file}\n`);
