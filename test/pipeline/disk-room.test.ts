import { existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { assertRoom, NoRoom } from '../../src/pipeline/disk-room.ts';
import { temporaryFolder } from '../support/folder.ts';

it('C12: a build begins only where another catalog has room beside the one in force', () => {
  const folder = temporaryFolder();
  const [state, out] = [path.join(folder, 'state'), path.join(folder, 'dist')];
  expect(() => assertRoom([state, out], state)).not.toThrow();
  expect([existsSync(state), existsSync(out)]).toEqual([true, true]);
  mkdirSync(state, { recursive: true });
  writeFileSync(catalogPath(state), '');
  // Eight terabytes of nothing, which take no room themselves.
  truncateSync(catalogPath(state), 2 ** 43);
  expect(() => assertRoom([state, out], state)).toThrow(NoRoom);
  expect(() => assertRoom([out, state], state)).toThrow(
    /^The disk of \S+state has [\d,]+ MB left, and a build needs 17,592,253 MB\. Nothing was changed/,
  );
  expect(() => assertRoom([out], state)).not.toThrow();
});
