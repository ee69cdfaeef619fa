import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { findProgram } from '../support/find-program.ts';
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
  const calls = [[], ['https://index.example'], ['--help']];
  // One after another in one process: most of a call is the start of Python.
  const program = `
import json, runpy, sys
for flags in json.loads(sys.argv[1]):
    sys.argv = [sys.argv[0], *flags]
    try:
        runpy.run_path(${JSON.stringify(example)}, run_name="__main__")
    except SystemExit as end:
        print(end.code)
`;
  const { stdout, stderr } = spawnSync(python ?? '', ['-c', program, JSON.stringify(calls)], { encoding: 'utf8' });
  expect(stdout).toBe(calls.map(() => '2\n').join(''));
  expect(stderr).toBe(calls.map(() => 'Usage: python3 example.py URL WORDS\n').join(''));
});

it.skipIf(python === undefined)(
  'the example in Python waits as a service asks, in seconds or until a date, and says where none answers',
  async () => {
    const found = { refs: {}, data: [{ package_id: 'a', version: '1', repository: { uri: 'u' } }] };
    const answers: [number, Record<string, string>][] = [
      [429, { 'Retry-After': 'Fri, 01 May 2026 00:00:09 GMT' }],
      [503, { 'Retry-After': '0' }],
      [503, { 'Retry-After': 'tomorrow, 0' }],
    ];
    const server = createServer((_, response) => {
      const [status, headers] = answers.shift() ?? [200, {}];
      response.writeHead(status, headers).end(JSON.stringify(found));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = () => promisify(execFile)(python ?? '', [example, address, 'example.n']);
    expect((await ask()).stdout).toBe('a\t1\tu\n');
    answers.push([404, {}]);
    await expect(ask()).rejects.toMatchObject({
      code: 1,
      stderr: `${address} answers no searches: ask a server of Debdex.\n`,
    });
  },
);
