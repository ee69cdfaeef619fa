import { cpSync, existsSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import path from 'node:path';
import { copyPath } from '../../src/contract/compressed-paths.ts';
import { type Built, runBuild } from './builds.ts';
import { runContest } from './contest.ts';
import type { Figure } from './report.ts';
import { startNginx, startOurs } from './servers.ts';
import { tell, type Workshop } from './workshop.ts';

const headers = { 'Accept-Encoding': 'gzip' };
/** How many documents are compared byte for byte before the measurement. */
const compared = 50;

/** The body as it is sent, still encoded. */
const fetchRaw = (address: string): Promise<{ encoding: string | undefined; body: Buffer }> =>
  new Promise((resolve, reject) => {
    get(address, { headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({ encoding: response.headers['content-encoding'], body: Buffer.concat(pieces) }),
      );
      response.on('error', reject);
    }).on('error', reject);
  });

/** Copies the index and adds compressed copies beside its files. */
const precompress = async (workshop: Workshop, { input, state, out, cold }: Built): Promise<Built> => {
  const twin: Built = { input, state: workshop.path('twins', 'state'), out: workshop.path('twins', 'dist'), cold };
  tell('compressing copies of everything that is published');
  cpSync(state, twin.state, { recursive: true, preserveTimestamps: true });
  cpSync(out, twin.out, { recursive: true, preserveTimestamps: true });
  await runBuild(input.manifest, twin.state, twin.out, ['--precompress']);
  return twin;
};

/**
 * Requests documents with a compressed copy beside them in that encoding, from ours and from nginx with `gzip_static`.
 * Fails if one of them answers with anything but the copy. Of these paths, the first that have a copy are used.
 */
export const measureTwins = async (
  workshop: Workshop,
  built: Built,
  paths: readonly string[],
  most: number,
): Promise<Figure[]> => {
  const twin = await precompress(workshop, built);
  const copyOf = (asked: string) => path.join(twin.out, ...copyPath(asked, 'gzip').split('/'));
  const asked = paths.filter((one) => existsSync(copyOf(one))).slice(0, most);
  if (asked.length === 0) throw new Error('no document has a compressed copy');
  const check = async (addresses: readonly string[]) => {
    for (const one of asked.slice(0, compared)) {
      const copy = readFileSync(copyOf(one));
      for (const address of addresses) {
        const { encoding, body } = await fetchRaw(address + one);
        if (encoding === 'gzip' && body.equals(copy)) continue;
        throw new Error(`${address}${one} answered ${body.length} bytes (${encoding}) that are not those of its copy`);
      }
    }
  };
  return runContest(workshop, {
    ...{ built: twin, paths: asked, headers, check, what: 'compressed lookups' },
    target: { peer: 'nginx with gzip_static', ratio: 0.6 },
    contestants: [
      ['ours with compressed copies', () => startOurs(workshop, twin)],
      ['nginx with gzip_static', () => startNginx(workshop, twin, 'gzip_static on;')],
    ],
  });
};
