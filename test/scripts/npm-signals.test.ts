import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { publish } from '../support/published.ts';

const project = path.join(import.meta.dirname, '..', '..');

// npm starts a command through a shell and tells that alone what it is told itself. A shell that stays between them ends
// and leaves the server behind, with its port.
it.each(['SIGTERM', 'SIGINT'] as const)('H2 npm run serve ends the server when npm is told %s', async (signal) => {
  const published = publish();
  const flags = ['--out', published.folder, '--state', published.state, '--port', '0'];
  const npm = spawn('npm', ['run', 'serve', '--', ...flags], { cwd: project, detached: true });
  const group = npm.pid ?? 0;
  onTestFinished(() => {
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // Nothing of it is left, as it should be.
    }
    published.remove();
  });
  let text = '';
  const closed = once(npm, 'close');
  for await (const piece of npm.stdout.setEncoding('utf8')) {
    text += piece;
    if (/http:\/\/\S+\n/.test(text)) break;
  }
  const address = /http:\/\/\S+/.exec(text)?.[0] ?? '';
  expect((await fetch(`${address}/v2/`, { headers: { connection: 'close' } })).status).toBe(200);
  npm.kill(signal);
  await closed;
  // Nothing of the group is left, and nobody answers.
  await expect.poll(() => fetch(`${address}/v2/`).catch(() => 'nobody')).toBe('nobody');
  expect(() => process.kill(-group, 0)).toThrow('ESRCH');
});
