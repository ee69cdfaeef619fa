import { chooseAgain } from './reports/again.ts';

// The files that .ci/run tries once more: each on a line of its own.
const [report = ''] = process.argv.slice(2);
for (const file of chooseAgain(report)) process.stdout.write(`${file}\n`);
