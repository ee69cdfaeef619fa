import { buildPart, memoryPart } from '../test/bench/build-part.ts';
import { edgePart } from '../test/bench/edge-part.ts';
import { firstRunPart } from '../test/bench/first-run-part.ts';
import { lookupPart } from '../test/bench/lookup-part.ts';
import { communityPart, millionPart } from '../test/bench/million-part.ts';
import { pagesPart } from '../test/bench/pages-part.ts';
import { qualityPart } from '../test/bench/quality-part.ts';
import { replicaPart } from '../test/bench/replica-part.ts';
import { describeConditions, describeMachine } from '../test/bench/report.ts';
import { growthPart, searchPart } from '../test/bench/search-part.ts';
import { sitePart } from '../test/bench/site-part.ts';
import { uploadPart } from '../test/bench/upload-part.ts';
import { closeOnSignals, Missing, type Part, tell, Workshop } from '../test/bench/workshop.ts';

/** Every part, in the order in which all of them run. */
const parts: Readonly<Record<string, Part>> = {
  index: buildPart,
  lookups: lookupPart,
  search: searchPart,
  quality: qualityPart,
  memory: memoryPart,
  growth: growthPart,
  site: sitePart,
  pages: pagesPart,
  publication: uploadPart,
  replica: replicaPart,
  edge: edgePart,
  'first-run': firstRunPart,
};

/** Parts that take long and much disk space, and run only if they are named. */
const named: Readonly<Record<string, Part>> = { million: millionPart, community: communityPart };

const help = (): string => {
  const rowsOf = (some: Readonly<Record<string, Part>>) =>
    Object.entries(some).map(([name, { summary }]) => `  ${name.padEnd(13)}${summary}\n`);
  return [
    'Usage: npm run bench -- [part …]\n\nTakes the figures of these parts, or of all:\n\n',
    ...rowsOf(parts),
    '\nOnly where it is named:\n\n',
    ...rowsOf(named),
    '\nDEBDEX_BENCH_DIR names the folder for temporary files, on the disk to be measured.\n',
  ].join('');
};

const run = async (names: readonly string[]): Promise<void> => {
  const workshop = new Workshop();
  let isStopped = false;
  closeOnSignals(workshop, () => {
    isStopped = true;
  });
  try {
    process.stdout.write(`Machine: ${describeMachine()}\n`);
    for (const name of names) {
      const part = parts[name] ?? named[name];
      if (part === undefined) continue;
      const before = describeConditions(workshop.folder);
      const started = performance.now();
      tell(`${name}: ${part.summary}`);
      const text = await part.run(workshop).catch((error: unknown) => {
        // It failed because it was ended, and the process ends with what it started.
        if (isStopped) return new Promise<never>(() => {});
        if (error instanceof Missing) return `Skipped: ${error.message}.\n`;
        throw error;
      });
      const took = Math.round((performance.now() - started) / 1000);
      const after = describeConditions(workshop.folder);
      process.stdout.write(`\n## ${name}\n\n${text}\nBefore: ${before}. After ${took} s: ${after}.\n`);
    }
  } finally {
    await workshop.close();
  }
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn({ ...parts, ...named }, name));
if (names.includes('--help') || names.includes('-h')) {
  process.stdout.write(help());
} else if (unknown.length > 0) {
  process.stderr.write(`There is no part called ${unknown.join(', ')}.\n${help()}`);
  process.exitCode = 2;
} else {
  await run(names.length > 0 ? names : Object.keys(parts));
}
