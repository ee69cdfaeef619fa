import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const project = path.join(import.meta.dirname, '..', '..');

// What changes a disk, of node:fs, node:fs/promises and our own room for it.
const writing =
  /^(?:write|append|rename|copyFile|cp|link|symlink|f?truncate|createWriteStream|rm|unlink|[fl]?utimes|mkd|[fl]?ch(?:mod|own))/;
// What it opens a file for is said where it is opened; without a word it is to be read.
const opening = /^open(?:Sync)?$/;
const readsAlone = /^\s*,\s*'r'/;

const modules = /from '(?:node:)?fs(?:\/promises)?'|(?:import|require|getBuiltinModule)\(\s*'(?:node:)?fs/;

/** The names that a file imports of node:fs and of `src/disk`. What is not imported by its name could be any of them. */
const importsOf = (text: string): string[] => {
  const named = /import (?:type )?\{([^}]*)\} from '(?:(?:node:)?fs(?:\/promises)?|\.\.\/disk\/[\w-]+\.ts)'/g;
  const rest = text.replaceAll(named, '');
  if (modules.test(rest)) return ['write everything'];
  return Array.from(text.matchAll(named), ([, names = '']) =>
    names.split(',').map((name) => name.trim().replace(/ as .*/, '')),
  ).flat();
};

/** Whether it opens a file otherwise than to read it. Between brackets there may be others, one deep. */
const opensToWrite = (text: string): boolean =>
  Array.from(text.matchAll(/(?<![.\w]|async )open(?:Sync)?\((?:[^(),]|\((?:[^()]|\([^()]*\))*\))*([^)]*)\)/g)).some(
    ([, behind = '']) => behind !== '' && !readsAlone.test(behind),
  );

const isWriter = (text: string): boolean => {
  const names = importsOf(text);
  return names.some((name) => writing.test(name)) || (names.some((name) => opening.test(name)) && opensToWrite(text));
};

/** The rooms and files that change a disk besides src/publication, and what they write to: never the output folder. */
const others: Readonly<Record<string, string>> = {
  'src/catalog/build-record.ts': 'the memory of builds, in the state folder',
  'src/catalog/state-catalog.ts': 'the catalog, in the state folder',
  'src/catalog/last-build.ts': 'outcomes.json, in the state folder',
  'src/catalog/lock.ts': 'who holds a lock, beside the lock',
  'src/catalog/search-aside.ts': 'the index for search as a thread makes it, in the state folder',
  'src/catalog/soundness.ts': 'how the catalog looked, in the state folder',
  'src/disk/make-folder.ts': 'folders that commands are told of, where they are not there yet',
  'src/disk/whole-file.ts': 'whole files, where those below want them',
  'src/following/mirror-files.ts': 'temporary files of a mirror, which it removes',
  'src/following/mirror-plan.ts': 'temporary files of a mirror',
  'src/following/mirror-mark.ts': 'that a mirror is under way, through the same writer',
  'src/following/mirror.ts': 'a mirror of another publication, through the same writer',
  'src/following/source.ts': 'temporary files of such a mirror',
  'src/following/taken-catalog.ts': 'what a replica took, in its state folder',
  'src/following/taken-folder.ts': 'what a replica took, in its state folder',
  'src/hosts/write-rules.ts': 'rules of static hosts, in a folder of their own',
  'src/notifying/notifier.ts': 'notices.json, in the state folder',
  'src/pipeline/rehearsal.ts': 'a second state folder',
  'src/pipeline/report.ts': 'the report, where the operator wants it',
  'src/uploading/folder-destination.ts': 'a folder that is no output folder, through the same writer',
  'src/site/astro-inside.ts': 'the bundle of the pages, below the state folder or the project',
  'src/site/build-process.ts': 'the folder of the bundle of the pages, below the state folder',
  'src/site/bundle.ts': 'the bundle of the pages, below the state folder or the project',
  'src/site/draw-pictures.ts': 'the share pictures as drawn, below the state folder',
  'src/site/kept-file.ts': 'what is built below the state folder, and kept there',
  'src/site/search-index.ts': 'the search index as built, below the state folder',
  'src/site/render.ts': 'the pages as built, below the state folder',
  'src/snapshots/depiction-store.ts': 'what was kept of depictions, in the state folder',
  'src/snapshots/history.ts': 'the history, in the state folder',
  'src/snapshots/removals.ts': 'removals.json, in the state folder',
  'src/snapshots/snapshot-files.ts': 'the snapshots, in the state folder',
  'src/snapshots/store.ts': 'the snapshots, in the state folder',
};

// A second writer would have its own idea of a whole file, of an order, of a kill and of a full disk.
it('C12: below src only src/publication writes below the output folder, and says where every other writer writes', () => {
  const files = globSync('src/**/*.ts', { cwd: project }).sort();
  const writers = files.filter((file) => isWriter(readFileSync(path.join(project, file), 'utf8')));
  expect(writers.filter((file) => !file.startsWith('src/publication/'))).toEqual(Object.keys(others).sort());
  const inside = writers.filter((file) => file.startsWith('src/publication/'));
  expect(inside).toEqual([
    'src/publication/compressed-copies.ts',
    'src/publication/emission.ts',
    'src/publication/folder-note.ts',
    'src/publication/folders-ahead.ts',
    'src/publication/folders.ts',
    'src/publication/framed-copy.ts',
    'src/publication/generation-in-force.ts',
    'src/publication/generation-signature.ts',
    'src/publication/generation.ts',
    'src/publication/inventory.ts',
    'src/publication/known-folders.ts',
    'src/publication/named-files.ts',
    'src/publication/old-generations.ts',
    'src/publication/output-folder.ts',
    'src/publication/owner.ts',
    'src/publication/package-changes.ts',
    'src/publication/portions.ts',
    'src/publication/publish-inventory.ts',
    'src/publication/size.ts',
    'src/publication/staged-file.ts',
    'src/publication/stamp.ts',
    'src/publication/status.ts',
    'src/publication/writer.ts',
  ]);
});

it('whoever writes is known as one, however it comes by the system', () => {
  const promises = "from 'node:fs/promises';\n";
  for (const text of [
    "import { readFileSync, writeFileSync } from 'node:fs';",
    "import { rm as forget } from 'node:fs';",
    `import { mkdir } ${promises}`,
    "import * as fs from 'node:fs';",
    "import fs from 'fs';",
    "const fs = await import('node:fs');",
    "const { writeFileSync } = process.getBuiltinModule('node:fs');",
    "import { openSync } from 'node:fs';\nopenSync(path.join(a, b), 'w');",
    "import { openSync } from 'node:fs';\nopenSync(file, constants.O_RDWR | constants.O_CREAT, 0o644);",
    `import { type FileHandle, open } ${promises}const handle = await open(file, 'wx');`,
  ])
    expect(isWriter(text), text).toBe(true);
  for (const text of [
    "import { closeSync, openSync, readSync } from 'node:fs';\nopenSync(path.join(a(b), c), 'r');",
    `import { open } ${promises}open(path.join(this.folder, file)).catch((error: unknown) => {});`,
    "import type { Stats } from 'node:fs';\nfile.open('w');",
    `import { open } ${promises}class A { async open(file: string, sha256?: string) { await open(file); } }`,
    "import path from 'node:path';",
  ])
    expect(isWriter(text), text).toBe(false);
});
