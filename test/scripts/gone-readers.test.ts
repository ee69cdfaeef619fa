import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';
import { Publication } from '../support/publication.ts';

const scripts = path.join(import.meta.dirname, '..', '..', 'scripts');

/** Ends a command whose words nobody reads any more; returns its exit code. */
const endUnread = async (name: string, ...parameters: string[]): Promise<unknown> => {
  const child = spawn(process.execPath, [path.join(scripts, `${name}.ts`), ...parameters]);
  child.stdout.destroy();
  child.stderr.destroy();
  const [code] = await once(child, 'exit');
  return code;
};

it('an upload is done though nobody heard it say so, and what was typed wrong is wrong all the same', async () => {
  const publication = new Publication();
  await publication.publish({ 'v2/index.json': 'landing' });
  const to = path.join(temporaryFolder(), 'to');
  expect(await endUnread('upload', to, '--out', publication.out)).toBe(0);
  expect(Publication.filesIn(to)['v2/index.json']).toBe('landing');
  expect(await endUnread('upload', to, '--out', publication.out, '--nonsense')).toBe(2);
});

it.each(['accounts', 'gateway', 'manifest'])(
  'npm run %s, which reads its own arguments, ends in the same way',
  async (name) => {
    expect(await endUnread(name, '--help')).toBe(0);
  },
);
