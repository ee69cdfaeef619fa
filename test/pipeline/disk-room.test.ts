import { existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { assertRoom, isDiskFull, NoRoom } from '../../src/pipeline/disk-room.ts';
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

it('C12: a disk is full where the system or SQLite says so in one of their ways, and by nothing else', () => {
  const failed = (of: object) => Object.assign(new Error('of the test'), of);
  for (const code of ['ENOSPC', 'EDQUOT', 'EFBIG']) expect(isDiskFull(failed({ code })), code).toBe(true);
  // 778 is SQLITE_IOERR_WRITE, whose low byte is SQLITE_IOERR.
  for (const errcode of [10, 13, 778])
    expect(isDiskFull(failed({ code: 'ERR_SQLITE_ERROR', errcode })), `${errcode}`).toBe(true);
  for (const other of [{}, { code: 'EACCES' }, { code: 'ERR_SQLITE_ERROR', errcode: 11 }])
    expect(isDiskFull(failed(other)), JSON.stringify(other)).toBe(false);
  expect(isDiskFull({ code: 'ENOSPC' })).toBe(false);
});
