import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { FileOrigin } from '../support/built-publication.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runScript } from '../support/run-script.ts';

const usual = process.umask(0o022);
process.umask(usual);
afterEach(() => void process.umask(usual));

/** Runs a command under a umask that keeps others from everything. */
const runKept = async (name: string, parameters: readonly string[]): Promise<void> => {
  process.umask(0o077);
  expect(await runScript(name, parameters)).toMatchObject({ status: 0 });
};

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);
const modesIn = (folder: string): readonly string[] => {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const modes = entries.map((entry) => {
    return `${entry.isFile() ? 'file' : 'folder'} ${modeOf(path.join(entry.parentPath, entry.name))}`;
  });
  return [...new Set([`folder ${modeOf(folder)}`, ...modes])].sort();
};
const readable = ['file 644', 'folder 755'];

it('a web server, which is another user, can read what is published, brought elsewhere and told it, whatever the umask', async () => {
  const folder = temporaryFolder();
  const place = (name: string) => path.join(folder, name);
  const out = place('new/out');
  await runKept('build', ['--sample', '--no-site', '--state', place('new/state'), '--out', out]);
  expect(modesIn(out)).toEqual(readable);
  expect(modeOf(place('new'))).toBe('755');
  // Which is nobody's else, as before.
  expect(modeOf(place('new/state'))).toBe('700');
  await runKept('upload', [place('uploaded'), '--out', out]);
  expect(modesIn(place('uploaded'))).toEqual(readable);
  const origin = await new FileOrigin(out).open();
  await runKept('mirror', [origin.address, place('mirrored')]);
  await origin.close();
  expect(modesIn(place('mirrored'))).toEqual(readable);
  await runKept('rules', ['caddy', '--publication', out, '--out', place('rules')]);
  expect(modesIn(place('rules'))).toEqual(readable);
});
