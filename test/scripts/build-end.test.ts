import { describe, expect, it } from 'vitest';
import { SafetyListInvalid } from '../../functions/node/safety-file.ts';
import { emptyBuildFailure, toCommandFailure } from '../../scripts/build-end.ts';
import { chooseNext, exitCodes } from '../../scripts/exit-codes.ts';
import { UsageError } from '../../scripts/options.ts';
import { LockedError } from '../../src/catalog/lock.ts';
import type { CrawlOutcome } from '../../src/crawl/crawl.ts';
import { ManifestError } from '../../src/crawl/read-manifest.ts';
import { NoRoom } from '../../src/pipeline/disk-room.ts';
import { StateBlocked } from '../../src/pipeline/state-files.ts';
import { NoFolder } from '../../src/publication/folder-content.ts';
import { OutputTaken } from '../../src/publication/owner.ts';
import { NoBundle } from '../../src/site/bundle.ts';
import { RemovalsHeld } from '../../src/snapshots/removals.ts';

const outcomesOf = (codes: readonly CrawlOutcome['code'][]) => ({
  outcomes: codes.map((code) => ({ code }) as CrawlOutcome),
});
const endOf = (...codes: CrawlOutcome['code'][]) => emptyBuildFailure(outcomesOf(codes), undefined).exitCode;

describe('a build that has nothing to publish', () => {
  it('C12: counts as one that reached nobody only where no origin answered in any way', () => {
    for (const code of ['no-network', 'dns', 'connection', 'timeout', 'backing-off'] as const) {
      expect(endOf(code), code).toBe(5);
      expect(endOf(code, 'release-missing'), code).toBe(1);
    }
    for (const code of ['tls', 'store-failed', 'address-refused', 'internal'] as const)
      expect(endOf(code), code).toBe(1);
    expect(endOf()).toBe(1);
  });

  it('C12: says of no repository that it could not be read where it was stopped before it came to all', () => {
    for (const codes of [[], ['dns'], ['release-missing']] as const) {
      const { message, exitCode } = emptyBuildFailure(outcomesOf(codes), 'SIGTERM');
      expect(message).toContain('stopped before any repository was read');
      expect(exitCode).toBe(1);
    }
  });
});

it('C12: a build whose output folder is a file ends with what to do, and nothing else', () => {
  const message = '/srv/x is no folder: name one, or a name that is free.';
  expect(toCommandFailure(new NoFolder(message))).toMatchObject({ message, exitCode: exitCodes.failed });
});

it('C12: a build without a bundle of the pages ends with what to do, and nothing else', () => {
  const { message } = new NoBundle();
  expect(toCommandFailure(new NoBundle())).toMatchObject({ message, exitCode: exitCodes.failed });
});

it('C12: a build that others, the manifest or the disk keep from its work ends with what to do, by a code for each', () => {
  for (const [error, exitCode] of [
    [new LockedError('another build is using it'), exitCodes.busy],
    [new RemovalsHeld(['one', 'two']), exitCodes.needsWord],
    [new OutputTaken('/srv/dist was published from another state folder.'), exitCodes.needsWord],
    [new NoRoom('The disk has too little left.'), exitCodes.failed],
    [new StateBlocked('/srv/state/builds.jsonl is a folder.'), exitCodes.failed],
  ] as const) {
    expect(toCommandFailure(error), error.name).toMatchObject({ message: error.message, exitCode });
  }
  const manifest = new ManifestError([{ file: 'a.yaml', field: 'uri', message: 'is missing' }]);
  expect(toCommandFailure(manifest)).toEqual(new UsageError('a.yaml: uri: is missing'));
  // A build reads the safety list again for its examples, and somebody may have changed it meanwhile.
  const safety = new SafetyListInvalid('safety.yaml: [0].host: is missing');
  expect(toCommandFailure(safety)).toEqual(new UsageError(safety.message));
});

it('C12: a build that the system failed says what it refused, and one that a signal stopped ends by that', () => {
  const refused = (code: string) => Object.assign(new Error(`${code}: refused`), { code, syscall: 'open' });
  expect(toCommandFailure(refused('ENOSPC'))).toMatchObject({
    message: expect.stringMatching(
      /^The disk is full \(ENOSPC: refused\), or has no inodes left .+ still stands: make room/,
    ),
    exitCode: exitCodes.failed,
  });
  const message =
    'The build failed: EACCES: refused: run this as the user whom it belongs to, or give it to this user with all that is in it (chown -R)\nWhat was published before still stands.';
  expect(toCommandFailure(refused('EACCES'))).toMatchObject({ message, exitCode: exitCodes.failed });
  expect(toCommandFailure(refused('EACCES'), 143)).toMatchObject({ message, exitCode: 143 });
});

it('C12: what a build published is served though something is amiss, and a build that was stopped is no failure', () => {
  const next = [0, 1, 2, 3, 4, 5, 6, 7, 128, 130, 143].map((code) => `${code} ${chooseNext(code)}`);
  const [served, failed] = [
    ['0 serve', '3 serve', '4 serve'],
    ['1 fail', '2 fail', '5 fail', '6 fail', '7 fail', '128 fail'],
  ];
  expect(next.toSorted()).toEqual([...served, ...failed, '130 end', '143 end'].toSorted());
});
