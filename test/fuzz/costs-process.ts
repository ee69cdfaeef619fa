import { mkdtempSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openGateway } from '../../functions/gateway/node/open-gateway.ts';
import { readSafetyList, safetyFile } from '../../functions/node/safety-file.ts';
import { serveBuild } from '../support/built.ts';
import { packages } from '../support/catalog.ts';
import { readTestConfiguration } from '../support/gateway-session.ts';
import { generatedRepositories } from '../support/generated.ts';
import type { CostsAnswer, CostsQuestion } from './measure-costs.ts';

// A server in a process of its own that says how long requests held it. Started by measure-costs.ts.

/** Milliseconds between two looks at the event loop. */
const resolution = 1;

const words = (index: number, count: number): string =>
  Array.from({ length: count }, (_, word) => `word${(index * 13 + word * 17) % 400}ing`).join(' ');
const large = Array.from({ length: 3000 }, (_, index) => ({
  Package: `com.example.large${index}`,
  Name: `${words(index, 2)} ${index}`,
  Author: `Author ${index % 90}`,
  Description: words(index, 40),
}));

// Records as large as a repository may have them, so that what they cost is not hidden by honest ones.
const heavy = Array.from({ length: 260 }, (_, index) => ({
  Package: `com.example.heavy${index}`,
  Name: `Heavy ${index}`,
  Description: 'ü-'.repeat(16_000),
}));

const listed = readSafetyList(safetyFile);
/**
 * The check with another before it that goes through a text again for each of its characters, where it begins with
 * "planted": for the test of what finds such ones.
 */
const quadratic = {
  ...listed,
  check: (uri: string) => {
    if (!uri.startsWith('planted')) return listed.check(uri);
    let sum = 0;
    for (let start = 0; start < uri.length; start++) {
      for (let index = start; index < uri.length; index++) sum += uri.charCodeAt(index);
    }
    return sum > 0;
  },
};

const folder = mkdtempSync(path.join(tmpdir(), 'debdex-costs-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const gateway = openGateway(readTestConfiguration({ STATE_DIR: folder, PUBLIC_ADDRESS: 'http://localhost:8080' }), {
  tell: () => {},
});
const repositories = [
  ...generatedRepositories(),
  { slug: 'large', packages: packages(...large) },
  { slug: 'heavy', packages: packages(...heavy) },
];
const server = await serveBuild(repositories, {
  trustedProxies: 1,
  overrides: {
    gateway: gateway.routes,
    safety: process.argv.includes('--planted') ? quadratic : listed,
  },
});

// What this thread worked between two beats, it worked at a stretch. Its processor time, because on a busy machine others
// take their share of any time on a clock.
let lastBeat = process.threadCpuUsage();
let longest = 0;
const beat = () => {
  const { user, system } = process.threadCpuUsage(lastBeat);
  longest = Math.max(longest, (user + system) / 1000);
  lastBeat = process.threadCpuUsage();
};
setInterval(beat, resolution);

const answer = (message: CostsAnswer) => process.send?.(message);

process.on('message', (question: CostsQuestion) => {
  beat();
  if (question === 'begin') {
    longest = 0;
    answer({ kind: 'begun' });
  } else {
    answer({ kind: 'measured', stretch: longest });
  }
});
process.on('disconnect', () => process.exit());
// It is killed, before Node would keep for the next one what was compiled.
flushCompileCache();
answer({
  kind: 'ready',
  port: server.port,
  ids: large.map(({ Package }) => Package),
  heavyIds: heavy.map(({ Package }) => Package),
});
