import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { findNearest, knownVariables, tellUnknownVariables } from '../../scripts/known-variables.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runScript } from '../support/run-script.ts';

const flagWithout = /(?<=\s)'?([a-z\d-]+)'?: \{\s*type: '(?:(?!\benvironment: |\n\s*\},)[\s\S])*?\bhelp:/g;

const readNamed = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'known-variables.ts')
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'))
    .flatMap((text) => [
      ...Array.from(text.matchAll(/DEBDEX_([A-Z\d]+(?:_[A-Z\d]+)*)\b/g), ([, name = '']) => name),
      // A flag that names no variable has that of its own name.
      ...Array.from(text.matchAll(flagWithout), ([, name = '']) => name.toUpperCase().replaceAll('-', '_')),
    ]);

it('every variable that a command, a function or a recipe names is known, and no other', () => {
  const named = new Set(['scripts', 'functions', 'src', 'deploy'].flatMap(readNamed));
  expect([...named].sort()).toEqual([...knownVariables].sort());
});

it('says which variables nothing reads, and what may have been meant', () => {
  const environment = { DEBDEX_DATAA: 'x', DEBDEX_OUTPUT: 'x', DEBDEX_BASEURL: 'x', DEBDEX_ZZZ: 'x', DEBDEX_OUT: 'x' };
  expect(tellUnknownVariables(environment)).toBe(
    'Nothing reads DEBDEX_BASEURL (DEBDEX_BASE_URL?), DEBDEX_DATAA (DEBDEX_DATA?), DEBDEX_OUTPUT (DEBDEX_OUT?), DEBDEX_ZZZ: --help names the variables of a command.',
  );
  expect(tellUnknownVariables({ DEBDEX_OUT: 'x', DEBDEX_TEST_KILLS: '1', PATH: 'x' })).toBeUndefined();
});

it('takes for what was meant what begins the name or differs little, and of a short name not half of it', () => {
  const names = ['OUT', 'KEY', 'STATE', 'DATA'];
  expect(findNearest('OUTPUT', names)).toBe('OUT');
  expect(findNearest('KEYS', names)).toBe('KEY');
  expect(findNearest('STAET', names)).toBe('STATE');
  for (const other of ['OAK', 'KIT', 'DOGS', 'STUFFED', 'DATES'])
    expect(findNearest(other, ['OUT', 'KEY', 'DATA'])).toBeUndefined();
});

it('warns of them in one line, and goes on', async () => {
  const folder = temporaryFolder();
  const { status, error } = await runScript('accept', ['--state', folder], { environment: { DEBDEX_STAET: 'x' } });
  expect(status).toBe(0);
  expect(error).toBe('Nothing reads DEBDEX_STAET (DEBDEX_STATE?): --help names the variables of a command.\n');
});
