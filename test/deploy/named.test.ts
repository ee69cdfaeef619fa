import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildEndings, exitCodes } from '../../scripts/exit-codes.ts';
import { stateFiles, stateFolders } from '../../src/pipeline/state-files.ts';
import { project } from '../support/deployed.ts';
import { findProgram } from '../support/find-program.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runScript } from '../support/run-script.ts';

const read = (file: string): string => readFileSync(path.join(project, file), 'utf8');
const recipes = globSync('deploy/**', { cwd: project })
  .filter((file) => statSync(path.join(project, file)).isFile())
  .sort();
const page = 'docs/operating.md';
const texts = [page, ...recipes].map((file) => ({ file, text: read(file) }));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };

const all = (pattern: RegExp): { file: string; found: string; rest: string }[] =>
  texts.flatMap(({ file, text }) =>
    Array.from(text.matchAll(pattern), ([, found = '', rest = '']) => ({ file, found, rest })),
  );

// Variables that recipes have for themselves: no command reads them.
const ofRecipes = [
  'DEBDEX_SITE',
  'DEBDEX_REPLICAS',
  'DEBDEX_HEALTH_INTERVAL',
  'DEBDEX_HEALTH_URI',
  'DEBDEX_DESTINATION',
  'DEBDEX_BASE_PATH',
];

describe('docs/operating.md and the recipes', () => {
  const helps = new Map<string, string>();
  beforeAll(async () => {
    // Of those alone that are named: most of the others load a browser or a bundler.
    const named = new Set(all(/npm run (?:--silent )?([\w:]+)/g).map(({ found }) => found));
    for (const [name, command] of Object.entries(scripts)) {
      if (!named.has(name)) continue;
      if (!/^exec node |^node /.test(command) || !/scripts\/\w+\.ts$/.test(command)) continue;
      if (['images', 'picture', 'release'].includes(name) || name.startsWith('ci:') || name.startsWith('check'))
        continue;
      helps.set(name, (await runScript(name, ['--help'])).text);
    }
  });

  it('name commands that there are, with flags that they know', () => {
    const commands = all(/npm run (?:--silent )?([\w:]+)([^\n`;|]*)/g);
    expect(commands.length).toBeGreaterThan(15);
    for (const { file, found, rest } of commands) {
      expect(Object.keys(scripts), `${file}: npm run ${found}`).toContain(found);
      const [, flags = ''] = / -- (.*?)(?: #|&&|$)/.exec(rest) ?? [];
      for (const [, flag = ''] of flags.matchAll(/(?<!\S)--([a-z][\w-]*)/g)) {
        expect(helps.get(found), `${file}: npm run ${found} -- --${flag}`).toMatch(new RegExp(`--${flag}\\b`));
      }
    }
    for (const { file, found } of all(/`--([a-z][\w-]*)[` ]/g)) {
      expect(
        [...helps.values()].some((help) => help.includes(`--${found}`)),
        `${file}: --${found}`,
      ).toBe(true);
    }
  });

  it('name commands whose help has what they may end with', () => {
    expect(helps.size).toBeGreaterThan(8);
    for (const [name, help] of helps) {
      // It lists its actions, whose own help has that.
      if (name === 'manifest') continue;
      expect(help, name).toMatch(/^Exit codes:(?:\n {2}\d+ {2,}.+)+/m);
    }
  });

  it('name variables that are read', () => {
    const known = `${[...helps.values()].join('')} ${read('docs/gateway.md')} ${ofRecipes.join(' ')}`;
    for (const { file, found } of all(/\b((?:DEBDEX|GATEWAY)_[A-Z_0-9]*[A-Z])\b/g)) {
      expect(known, `${file}: ${found}`).toMatch(new RegExp(`\\b${found}\\b`));
    }
  });

  it('name files that there are, and leave none out', () => {
    const named = all(/(?<![\w./@-])((?:deploy|docs|scripts|data|functions|src)\/[\w./@-]*[\w/])/g);
    expect(named.length).toBeGreaterThan(30);
    for (const { file, found } of named) expect(existsSync(path.join(project, found)), `${file}: ${found}`).toBe(true);
    const everything = texts.map(({ text }) => text).join('\n');
    for (const file of recipes) expect(everything).toContain(path.basename(file));
  });

  it('upload what was published, and end as the build or the upload that failed', () => {
    const [, script = ''] = /```sh\n(npm run build; .*?)```/s.exec(read(page)) ?? [];
    const end = (build: number, upload: number) => {
      const npm = `npm() { echo "$2"; case $2 in build) return ${build} ;; *) return ${upload} ;; esac; }`;
      const { status, stdout } = spawnSync('sh', ['-c', `${npm}\n${script}`], { encoding: 'utf8' });
      return [status, stdout.trim().split('\n').length];
    };
    expect([end(0, 0), end(4, 0), end(6, 0), end(0, 7), end(3, 1)]).toEqual([
      [0, 2],
      [4, 2],
      [6, 1],
      [7, 2],
      [1, 2],
    ]);
  });

  // Of what left the publication a copy that is only added to would answer for ever.
  it('copy the publication into folders that were emptied before', () => {
    const blocks = ['docs/hosting.md', 'deploy/fetch/README.md', 'deploy/cloudflare/README.md'].flatMap((file) =>
      Array.from(read(file).matchAll(/```sh\n(.*?)```/gs), ([, block = '']) => ({ file, block })),
    );
    const copies = blocks.filter(({ block }) => /\bcp -R .*\bdist\b/.test(block));
    expect(copies.length).toBeGreaterThan(3);
    for (const { file, block } of copies) {
      const [, target = ''] = /\bcp -R .*\bdist\b.* (\S+)$/m.exec(block) ?? [];
      const emptied = Array.from(block.matchAll(/\brm -rf ([^\n#&]+)/g), ([, folders = '']) =>
        folders.trim().split(' '),
      );
      expect(
        emptied.flat().some((folder) => `${target}/`.startsWith(`${folder}/`)),
        `${file}: ${target}`,
      ).toBe(true);
    }
  });

  // Without its settings a build by hand would be of another manifest and address, and drop compressed copies.
  it('define how commands run with the settings of the service, which may hold blanks', () => {
    const [, define = ''] = /```sh\n(as_debdex\(\) \(.*?\n\)\n)/s.exec(read(page)) ?? [];
    const settings = path.join(temporaryFolder(), 'debdex.env');
    // systemd takes quotation marks around a value away.
    const more = 'DEBDEX_NOTIFY=https://a.test/$x https://b.test\nDEBDEX_DATA="/etc/debdex/my data"\n';
    writeFileSync(settings, `${read('deploy/systemd/debdex.env')}${more}`);
    const here = define.replaceAll('/etc/debdex/debdex.env', settings);
    const shown = '"$DEBDEX_STATE" "$DEBDEX_OUT" "$DEBDEX_DATA" "$DEBDEX_PRECOMPRESS" "$DEBDEX_NOTIFY" "$OF_CALL"';
    const script = [
      'runuser() { [ "$1 $2 $3" = "-u debdex --" ] && shift 3 && "$@"; }',
      here,
      `OF_CALL=1 as_debdex sh -c 'printf "%s\\n" ${shown}'`,
      'printenv DEBDEX_DATA || echo none',
    ];
    const { status, stdout } = spawnSync('bash', ['-c', script.join('\n')], {
      env: { PATH: process.env.PATH },
      encoding: 'utf8',
    });
    // What stands behind it, a password as well, is in the list of processes that everybody can read.
    expect(read(page)).not.toMatch(/as_debdex [A-Z_]+=/);
    expect([stdout.trimEnd().split('\n'), status]).toEqual([
      [
        ...['/var/lib/debdex/state', '/var/lib/debdex/dist', '/etc/debdex/my data', '1'],
        ...['https://a.test/$x https://b.test', '1', 'none'],
      ],
      0,
    ]);
  });

  it.skipIf(findProgram('jq') === undefined)('read the journal, where systemd writes too', () => {
    const [, filter = ''] = /journalctl [^`|]+\| jq ([^`]+)`/.exec(read(page)) ?? [];
    const input = 'Started Debdex: serve what was built.\n{"event":"started"}\n';
    const { stdout, status } = spawnSync('sh', ['-c', `jq -c ${filter}`], { input, encoding: 'utf8' });
    expect([stdout, status]).toEqual(['"Started Debdex: serve what was built."\n{"event":"started"}\n', 0]);
  });

  // `git add -A` in a checkout of one's own, as for GitHub Actions, would publish keys and accounts.
  it('have git leave out what they make in a checkout', () => {
    const checkout = temporaryFolder();
    spawnSync('git', ['init', '-q', checkout]);
    copyFileSync(path.join(project, '.gitignore'), path.join(checkout, '.gitignore'));
    const made = [
      ...['my-data/', 'dist/', 'state/', 'rules/', 'public/', 'bundle/', '.env', 'debdex.env', 'mirror/'],
      ...['mine.json', 'mine-state/', 'mine-dist/', 'replica-state/', 'package/', 'debdex.zip'],
      ...['signing-key.pem', 'gateway-2026-11-22.backup', 'debdex-2026-11-22.tar.gz'],
    ];
    const { stdout } = spawnSync('git', ['-C', checkout, 'check-ignore', ...made], { encoding: 'utf8' });
    expect(stdout.trim().split('\n')).toEqual(made);
  });

  it('cite sections of other pages by the headings that they have', () => {
    const cited = globSync(['*.md', 'docs/*.md', 'deploy/**/*.md'], { cwd: project }).flatMap((file) =>
      Array.from(
        read(file)
          .replaceAll(/\s+/g, ' ')
          .matchAll(/`([\w/.]+\.md)`, "([^"]+)"/g),
        ([, other = '', heading = '']) => ({ file, other, heading }),
      ),
    );
    expect(cited.length).toBeGreaterThan(3);
    for (const { file, other, heading } of cited) {
      expect(read(other), `${file}: ${other}, "${heading}"`).toMatch(new RegExp(`^#+ ${heading}(?:, .*)?$`, 'm'));
    }
  });

  it('name headings, leaves of health, exit codes and figures that there are', () => {
    const text = read(page);
    const headings = Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    for (const [, anchor] of text.matchAll(/\]\(#([\w-]+)\)/g)) expect(headings).toContain(anchor);
    const leaves = globSync('functions/health/*.ts', { cwd: project }).flatMap((file) =>
      Array.from(read(file).matchAll(/'[\w.]+\.(\w+_healthy)'/g), ([, leaf = '']) => leaf),
    );
    expect(leaves.length).toBeGreaterThan(5);
    for (const leaf of leaves) expect(text).toContain(leaf);
    for (const code of Object.values(exitCodes)) expect(text).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'));
    const sources = globSync('functions/node/*.ts', { cwd: project }).map(read).join('');
    for (const [, figure] of text.matchAll(/`debdex_(\w+)`/g)) expect(sources).toContain(figure);
    for (const [, event] of text.matchAll(/\| `([a-z]+-[a-z]+)`/g)) {
      const told = globSync('{functions,scripts,src}/**/*.ts', { cwd: project }).some((file) =>
        read(file).includes(`'${event}'`),
      );
      expect(told, event).toBe(true);
    }
  });
});

describe('docs/builds.md', () => {
  const text = read('docs/builds.md');

  it('names every end of a build, and what is in a state folder', () => {
    for (const [code] of buildEndings)
      expect(text, `${code}`).toMatch(code < 128 ? new RegExp(`^\\| ${code} \\|`, 'm') : new RegExp(`\\b${code}\\b`));
    const [, table = ''] = /^\| Folder or file .*\n((?:\|.*\n)+)/m.exec(text) ?? [];
    const named = Array.from(table.matchAll(/`([\w.-]+)\/?`/g), ([, name]) => name);
    const kept = [...stateFiles, ...stateFolders].map((file) => file.split('/', 1)[0]);
    expect(named).toEqual(expect.arrayContaining(kept));
  });
});
