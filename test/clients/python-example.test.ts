import { execFile, spawnSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { findProgram } from '../support/host-programs.ts';
import { startTestServer } from '../support/test-server.ts';

const python = findProgram('python3');
if (python === undefined) process.stderr.write('SKIPPED: python3 is not installed, and its example goes untested.\n');
const example = path.join(import.meta.dirname, '..', '..', 'clients', 'python', 'example.py');

it.skipIf(python === undefined)('the example in Python reads a search of several pages', async () => {
  const ids = Array.from({ length: 230 }, (_, number) => `com.example.n${String(number).padStart(3, '0')}`);
  const server = await startTestServer({ ids });
  onTestFinished(() => server.close());
  const { stdout } = await promisify(execFile)(python ?? '', [example, server.address, 'example.n']);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.split('\t')[0])).toEqual(ids);
  expect(lines[0]?.split('\t')).toHaveLength(3);
});

it.skipIf(python === undefined)('the example in Python says how it is called', () => {
  for (const flags of [[], ['https://index.example'], ['--help']]) {
    const { status, stderr } = spawnSync(python ?? '', [example, ...flags], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 2, stderr: 'Usage: python3 example.py URL WORDS\n' });
  }
});
