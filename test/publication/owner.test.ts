import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { assertApart } from '../../scripts/assert-apart.ts';
import { LockedError, lockState } from '../../src/catalog/lock.ts';
import {
  holdsPublication,
  isBeingPublished,
  isOutputOfBuilds,
  OutputTaken,
  readPublishedSource,
  takeOutput,
  takeOverOutput,
  whileClaimed,
} from '../../src/publication/owner.ts';
import { temporaryFolder } from '../support/folder.ts';

const begin = () => ({ out: temporaryFolder(), state: temporaryFolder() });
const write = (folder: string, name: string): void => {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), 'mine');
};

it.each(['index.html', 'v2/other/data.json', 'package/readme.txt', 'sample/Packages'])(
  'an output folder that holds %s, which no build put there, is published into only on a word',
  (name) => {
    const { out, state } = begin();
    write(out, name);
    const take = () => takeOutput(out, state, 'manifest');
    expect(take).toThrow(OutputTaken);
    expect(take).toThrow(
      new RegExp(`holds ${name.split('/')[0]}, which no build .* accept -- --state \\S+ --take-over \\S+$`),
    );
    expect(readdirSync(out)).toEqual([name.split('/')[0]]);
    expect(takeOverOutput(out, state)).toBe(true);
    take().release();
  },
);

// As where the power failed.
it('a state folder whose identifier is empty gets one, by which its output folder is known from then on', () => {
  const { out, state } = begin();
  write(state, 'identifier');
  writeFileSync(path.join(state, 'identifier'), '');
  const { claim, release } = takeOutput(out, state, 'manifest');
  claim();
  release();
  expect(readFileSync(path.join(state, 'identifier'), 'utf8')).toMatch(/^[0-9a-f-]{36}\n$/);
  takeOutput(out, state, 'manifest').release();
  rmSync(path.join(state, 'identifier'));
  expect(() => takeOutput(out, state, 'manifest')).toThrow(/ has lost its file "identifier" since\. Name .* restore /);
});

// As that of another user: a new one would make its own output folder that of somebody else.
it('a state folder whose identifier cannot be read now gets no other', () => {
  const { out, state } = begin();
  symlinkSync('identifier', path.join(state, 'identifier'));
  expect(() => takeOutput(out, state, 'manifest')).toThrow(/ELOOP.+identifier/);
  expect(readlinkSync(path.join(state, 'identifier'))).toBe('identifier');
});

// As that of another user, who alone may look into it.
it('an output folder whose owner cannot be looked at now is not called free for a word', () => {
  const { out, state } = begin();
  write(out, 'index.html');
  symlinkSync('.debdex', path.join(out, '.debdex'));
  expect(() => takeOutput(out, state, 'manifest')).toThrow(/ELOOP.+owner\.json/);
});

it('an output folder that is a link to itself is told of as one that leads nowhere', () => {
  const { out, state } = begin();
  for (const target of [path.basename(out), path.join(state, 'away')]) {
    rmSync(out, { recursive: true, force: true });
    symlinkSync(target, out);
    const words = `${out} is a link to ${target}, where there is no folder: mount or make it, or name another place`;
    expect(() => takeOutput(out, state, 'manifest')).toThrow(words);
    expect(isOutputOfBuilds(out)).toBe(false);
  }
});

it('the command that gives the word can be copied, whatever the folders are called', () => {
  const [out, state] = [path.join(temporaryFolder(), 'my site'), path.join(temporaryFolder(), "it's")];
  write(out, 'index.html');
  const quoted = `--state '${state.replace("'", String.raw`'\''`)}' --take-over '${out}'`;
  expect(() => takeOutput(out, state, 'manifest')).toThrow(`npm run accept -- ${quoted}`);
});

it('an output folder with nothing but what systems put into every folder is free, and once noted whatever it holds', () => {
  const { out, state } = begin();
  for (const name of ['.git/HEAD', '.DS_Store', 'lost+found/x']) write(out, name);
  expect(takeOverOutput(out, state)).toBe(false);
  takeOutput(out, state, 'manifest').release();
  const { claim, release } = takeOutput(out, state, 'sample');
  claim();
  release();
  write(out, 'sample/Packages');
  takeOutput(out, state, 'manifest').release();
});

it('a state folder, which holds accounts, is never among what is published, by whatever name', () => {
  const { out } = begin();
  for (const state of [
    out,
    path.join(out, 'state'),
    path.join(out, '..state'),
    path.join(out, '..', path.basename(out), 'a', 'b'),
  ]) {
    expect(() => assertApart({ state, out })).toThrow(/name folders beside each other/);
  }
  write(out, 'file');
  const file = path.join(out, 'file');
  expect(() => assertApart({ state: file, out: path.join(out, 'dist') })).toThrow(
    /^--state \S+ is no folder: name one/,
  );
  assertApart({ state: `${out}-state`, out: file });
  expect(() => takeOutput(file, `${out}-state`, 'manifest')).toThrow(/file is no folder: name one/);
  assertApart({ state: `${out}-state`, out });
  assertApart({ state: path.join(out, '..'), out });
  assertApart({ state: out, out: path.join(out, 'dist') });
});

it('C9: the lock of an output folder is taken through no link', () => {
  const { out, state } = begin();
  const other = temporaryFolder();
  write(other, 'text');
  mkdirSync(path.join(out, '.debdex'));
  for (const name of ['build.lock', 'build.lock.json']) {
    symlinkSync(path.join(other, 'text'), path.join(out, '.debdex', name));
  }
  const { claim, release } = takeOutput(out, state, 'manifest');
  claim();
  release();
  rmSync(path.join(out, '.debdex'), { recursive: true });
  symlinkSync(other, path.join(out, '.debdex'));
  takeOutput(out, state, 'manifest').release();
  expect(readdirSync(other)).toEqual(['text']);
  expect(readFileSync(path.join(other, 'text'), 'utf8')).toBe('mine');
});

it('C12: a folder that is taken over is swept of what its former builds left half-written, and of nothing else', () => {
  const { out, state } = begin();
  const former = takeOutput(out, temporaryFolder(), 'manifest');
  former.claim();
  former.release();
  for (const name of ['.staging/1-0/5', '.index.html.next', 'v2/.package.next/a.json', '.well-known/next'])
    write(out, name);
  expect(() => takeOutput(out, state, 'manifest')).toThrow(OutputTaken);
  expect(takeOverOutput(out, state)).toBe(true);
  expect(readdirSync(out).sort()).toEqual(['.debdex', '.well-known', 'v2']);
  expect(readdirSync(path.join(out, 'v2'))).toEqual(['.package.next']);
  expect(takeOverOutput(out, state)).toBe(false);
  takeOutput(out, state, 'manifest').release();
});

it('a folder that is taken over holds what it held: a sample is still one', () => {
  const { out, state } = begin();
  const former = takeOutput(out, temporaryFolder(), 'sample');
  former.claim();
  former.release();
  expect(takeOverOutput(out, state)).toBe(true);
  expect(readPublishedSource(out)).toBe('sample');
});

// As in a folder that this user may only read.
it('a folder in which no lock can be taken is not being published', () => {
  const { out } = begin();
  write(out, '.debdex/build.lock/a');
  expect(isBeingPublished(out)).toBe(false);
});

it('C12: while work is done in a folder that was claimed for it, no build uses that folder, nor its state', async () => {
  const { out, state } = begin();
  const work = async () => {
    expect(isBeingPublished(out)).toBe(true);
    expect(() => lockState(state)).toThrow(LockedError);
    expect(readPublishedSource(out)).toBe('sample');
    throw new Error('of the test');
  };
  await expect(whileClaimed(out, state, 'sample', work)).rejects.toThrow('of the test');
  expect(isBeingPublished(out)).toBe(false);
  lockState(state)();
  await expect(whileClaimed(out, state, 'sample', async () => 'done')).resolves.toBe('done');
});

it('what an output folder holds is noted anew where it comes from elsewhere, so that a sample takes the place of a sample alone', () => {
  const { out, state } = begin();
  for (const source of ['sample', 'manifest', 'manifest', 'sample'] as const) {
    const { claim, release } = takeOutput(out, state, source);
    claim();
    release();
    expect([readPublishedSource(out), holdsPublication(out)]).toEqual([source, source === 'manifest']);
  }
});
