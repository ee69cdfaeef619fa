import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RulesImpossible } from '../../src/hosts/host-rules.ts';
import type { hosts } from '../../src/hosts/hosts.ts';
import { writeRules } from '../../src/hosts/write-rules.ts';
import { recipe } from '../support/deployed.ts';
import { temporaryFolder } from '../support/folder.ts';
import { publish } from '../support/published.ts';

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();

const begin = () => {
  const published = publish();
  onTestFinished(() => published.remove());
  const out = temporaryFolder();
  const write = (host: keyof typeof hosts, folder = out, publication = published.folder) =>
    writeRules({ host, publication, out: folder, now: new Date('2026-05-02T00:00:00Z') });
  const put = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(out, file)), { recursive: true });
    writeFileSync(path.join(out, file), text);
  };
  return { out, write, put, published: published.folder };
};

it.each(['netlify.toml', 'public/index.html', '.git/config'])(
  'rules are written into no folder that holds %s, which is none of them, and nothing there is touched',
  (file) => {
    const { out, write, put } = begin();
    put(file, 'mine');
    const attempt = () => write('cloudflare-workers');
    expect(attempt).toThrow(RulesImpossible);
    expect(attempt).toThrow(`${out} holds ${path.normalize(file)}, which is none of the rules for cloudflare-workers`);
    expect(filesOf(out)).toEqual([path.normalize(file)]);
    expect(readFileSync(path.join(out, file), 'utf8')).toBe('mine');
  },
);

it('rules take the place of those of before, and of what a command left that was killed, in a folder that need not be there', () => {
  const { out, write, put } = begin();
  const apart = path.join(out, 'not', 'there', 'yet');
  const { files } = write('cloudflare-workers', apart);
  const names = filesOf(apart);
  expect(names).toEqual(
    Object.keys(files)
      .map((file) => path.normalize(file))
      .sort(),
  );
  for (const name of names) put(path.join('not/there/yet', name), 'of before');
  put(`not/there/yet/${names[0]}.new`, 'half of it');
  write('cloudflare-workers', apart);
  expect(filesOf(apart)).toEqual(names);
  for (const name of names) expect(readFileSync(path.join(apart, name), 'utf8')).toBe(files[name]);
});

it.each(['file', 'file/below'])('rules say so where there is a file instead of a folder (%s)', (place) => {
  const { out, write, put } = begin();
  put('file', 'of somebody');
  expect(() => write('caddy', path.join(out, place))).toThrow(/is no folder, or lies below a file: name another --out/);
  expect(readFileSync(path.join(out, 'file'), 'utf8')).toBe('of somebody');
});

it('rules name a folder with blanks as one', () => {
  const { out, write, published } = begin();
  const folder = path.join(temporaryFolder(), 'our index');
  cpSync(published, folder, { recursive: true });
  for (const host of ['nginx', 'caddy'] as const) {
    const roots = Object.values(write(host, path.join(out, host), folder).files).flatMap((text) =>
      Array.from(text.matchAll(/^\s*root (?:\* )?(.*?);?$/gm), ([, place]) => place),
    );
    expect([...new Set(roots)]).toEqual([`"${folder}"`]);
  }
});

// Whoever follows docs/operating.md has a server, in which these files are included already.
it('rules of nginx lead to a server of their own, and to one of the operator', () => {
  const { next } = begin().write('nginx');
  expect(next).toContain('include debdex/debdex.conf;');
  expect(next).toContain('docs/hosting.md');
});

it('T9: a server of nginx logs neither requests nor who asked for what is missing, as the privacy page says', () => {
  const { out, write } = begin();
  write('nginx');
  for (const text of [readFileSync(path.join(out, 'debdex.conf'), 'utf8'), recipe('nginx/debdex.conf')]) {
    const [, server] = text.split(/^server \{$/m);
    expect(server).toMatch(/^ +access_log off;$/m);
    expect(server).toMatch(/^ +log_not_found off;$/m);
  }
});
