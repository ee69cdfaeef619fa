import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { chooseAgain } from '../../scripts/reports/again.ts';
import { countReports } from '../../scripts/reports/count.ts';
import { temporaryFolder } from './folder.ts';

const runner = path.join(path.dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const project = path.join(import.meta.dirname, '..', '..');

const never = 'new Promise(() => {})';
const files = {
  'held.test.mjs': `it('holds the processor', () => { for (;;); });`,
  'loading.test.mjs': `await ${never}; it('comes never', () => {});`,
  'waiting.test.mjs': `for (let n = 0; n < 1000; n++) it('waits ' + n, () => ${never});`,
  'long.test.mjs': `it('takes what it may', () => new Promise((done) => setTimeout(done, 4000)), 60_000);`,
  'fine.test.mjs': `it('is fine', () => {});`,
};

it('ends the process of a file that hangs, and goes on with the others: each that hung is named, and runs again', async () => {
  const folder = temporaryFolder();
  const own = (name: string) => JSON.stringify(path.join(project, 'test', 'support', name));
  const config = `export default { test: {
    globals: true,
    include: ['*.test.mjs'],
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 500,
    hookTimeout: 500,
    globalSetup: [${own('hung-files.ts')}],
    setupFiles: [${own('running-file.ts')}],
  } };`;
  writeFileSync(path.join(folder, 'vitest.config.mjs'), config);
  for (const [name, code] of Object.entries(files)) writeFileSync(path.join(folder, name), code);
  const report = path.join(folder, 'report.json');
  const flags = ['run', '--root', folder, '--reporter=json', `--outputFile=${report}`];
  const child = spawn(process.execPath, [runner, ...flags], { cwd: project, stdio: ['ignore', 'ignore', 'pipe'] });
  const said = await text(child.stderr);
  const hung = ['held', 'loading', 'waiting'].map((name) => `${name}.test.mjs`);
  for (const name of hung) expect(said).toContain(`${name}: `);
  expect(said.match(/ended$/gm)).toHaveLength(hung.length);
  expect(
    chooseAgain(report)
      .map((file) => path.basename(file))
      .sort(),
  ).toEqual(hung);
  expect(countReports([report]).line).toContain(`2 passed, ${hung.length} failed`);
  expect(readFileSync(report, 'utf8')).toContain('takes what it may');
});
