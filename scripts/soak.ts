import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findObstacle } from '../test/soak/abuse-process.ts';
import { endOnSignals } from '../test/soak/ending.ts';
import { takePriority } from '../test/soak/priorities.ts';
import { describeProgress, describeSoak } from '../test/soak/report.ts';
import { runSoak } from '../test/soak/run-soak.ts';
import { type Command, CommandFailure, runCommand } from './options.ts';

const command = {
  name: 'soak',
  summary:
    'Keeps a mixed load on a server while builds replace its index again and again, and says whether a request failed\n' +
    'and whether its memory or its open descriptors grow. Other clients abuse it meanwhile: they hold connections,\n' +
    'never wait, never read, and flood the sign-in. Ctrl-C or SIGTERM ends it early, with its report.',
  options: {
    minutes: {
      type: 'integer',
      value: 'N',
      default: 6,
      minimum: 1,
      maximum: 10_000,
      environment: 'DEBDEX_SOAK_MINUTES',
      help: 'How long. What is in use of memory is judged from 6 on, resident memory from an hour on.',
    },
    gentle: {
      type: 'boolean',
      environment: 'DEBDEX_SOAK_GENTLE',
      help: 'Leaves the abuses out. They come from 127.0.0.2 to 127.0.0.6, which not every system has.',
    },
  },
} as const satisfies Command;

await runCommand(command, async ({ minutes, gentle }) => {
  const obstacle = gentle ? undefined : findObstacle();
  if (obstacle !== undefined) throw new CommandFailure(obstacle);
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-soak-'));
  const interrupted = endOnSignals(process, () => process.exit(1));
  interrupted.addEventListener('abort', () => {
    process.stderr.write('Ending: what is under way completes first. Ctrl-C again ends at once.\n');
  });
  try {
    if (!takePriority()) {
      process.stderr.write(
        'The system does not let the server come before its abusers: they share its processors, and what honest clients\n' +
          'wait is judged all the same. Run it with the right to raise priorities (as root) to measure the server alone.\n',
      );
    }
    process.stderr.write('Building what is to be served\n');
    let shown = 0;
    const soak = await runSoak({
      folder,
      seconds: minutes * 60,
      isGentle: gentle,
      signal: interrupted,
      onProgress: (now) => {
        const failures = now.tally.examples.slice(shown);
        shown += failures.length;
        process.stderr.write([...failures, describeProgress(now, minutes * 60), ''].join('\n'));
      },
    });
    const { text, faults } = describeSoak(soak);
    process.stdout.write(text);
    if (faults.length > 0) throw new CommandFailure(faults.join('\n'));
    process.stdout.write(
      'No request failed or waited, nothing was left behind, and nothing grows that could be judged.\n',
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
