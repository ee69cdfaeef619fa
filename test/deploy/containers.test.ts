import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { computeKey } from '../../src/site/bundle.ts';
import { placed, project, recipe } from '../support/deployed.ts';
import { temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/host-programs.ts';
import { patience } from '../support/patience.ts';

const lines = recipe('Dockerfile')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => /^(\w+) (.*)$/.exec(line)?.slice(1) ?? ['', line]) as [string, string][];
const instructions = (name: string): string[] => lines.flatMap(([one, rest]) => (one === name ? [rest] : []));

const ignored = readFileSync(path.join(project, '.dockerignore'), 'utf8').split('\n');
const kept = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
const isInContext = (file: string): boolean => kept.some((name) => file === name || file.startsWith(`${name}/`));

/**
 * Carries the instructions out in folders, one for each stage, and returns that of the last one. Packages are those of this
 * checkout, where `npm ci` would fetch them.
 */
const carryOut = (): string => {
  const stages = new Map<string, string>();
  let folder = '';
  for (const [instruction, rest] of lines) {
    if (instruction === 'FROM') {
      const [from = '', , name = 'last'] = rest.split(' ');
      folder = temporaryFolder();
      const before = stages.get(from);
      if (before !== undefined) cpSync(before, folder, { recursive: true, verbatimSymlinks: true });
      mkdirSync(path.join(folder, 'app'), { recursive: true });
      stages.set(name, folder);
    } else if (instruction === 'COPY') {
      const words = rest.split(' ');
      const stage = words[0]?.startsWith('--from=') ? stages.get(words.shift()?.slice(7) ?? '') : undefined;
      const target = path.join(folder, 'app', words.pop() ?? '');
      for (const word of words) {
        if (stage === undefined) expect(isInContext(word), `${word} is left out by .dockerignore`).toBe(true);
        const source = stage === undefined ? path.join(project, word) : path.join(stage, word);
        const isFolder = statSync(source).isDirectory();
        if (isFolder && path.basename(source) === 'node_modules')
          symlinkSync(path.join(project, 'node_modules'), target);
        else cpSync(source, isFolder ? target : path.join(target, path.basename(word)), { recursive: true });
      }
    } else if (instruction === 'RUN') {
      const app = path.join(folder, 'app');
      if (rest.startsWith('npm ci ')) symlinkSync(path.join(project, 'node_modules'), path.join(app, 'node_modules'));
      else if (rest.startsWith('install ')) {
        for (const data of rest.split(' ').filter((word) => word.startsWith('/'))) {
          mkdirSync(path.join(folder, data), { recursive: true });
          chmodSync(path.join(folder, data), 0o777);
        }
      } else {
        const { status, stderr } = spawnSync('sh', ['-c', rest], { cwd: app, encoding: 'utf8' });
        expect(status, stderr).toBe(0);
      }
    }
  }
  return folder;
};

const list = (rest: string): string[] => JSON.parse(rest.slice(rest.indexOf('[')));
// Without rights of root where the tests have them, so that what cannot be written cannot.
const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

describe('the Dockerfile', () => {
  it('takes the Node that everything runs on, and ends as a user without rights', () => {
    const { devDependencies, dependencies } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8'));
    expect(instructions('ARG')).toEqual([`NODE=${(dependencies.node ?? devDependencies.node) as string}`]);
    expect(lines.findLastIndex(([name]) => name === 'USER')).toBeGreaterThan(
      lines.findLastIndex(([name]) => name === 'RUN' || name === 'COPY'),
    );
    expect(instructions('USER')).toEqual(['node']);
    expect(kept.filter((name) => !existsSync(path.join(project, name)))).toEqual([]);
    expect(ignored).toContain('*');
  });

  it('has in its last stage all that the pages were bundled of, or each build would bundle them again, and cannot', () => {
    const stages = new Map<string, string[]>();
    let stage = '';
    for (const [instruction, rest] of lines) {
      const [first = '', , name = 'last'] = rest.split(' ');
      if (instruction === 'FROM') {
        stage = name;
        stages.set(stage, [...(stages.get(first) ?? [])]);
      }
      if (instruction === 'COPY' && !first.startsWith('--from='))
        stages.get(stage)?.push(...rest.split(' ').slice(0, -1));
    }
    const keyOf = (stage: string): string => {
      const folder = temporaryFolder();
      for (const name of stages.get(stage) ?? [])
        cpSync(path.join(project, name), path.join(folder, name), { recursive: true });
      return computeKey(folder);
    };
    expect(keyOf('last')).toBe(keyOf('pages'));
    expect(keyOf('last')).toBe(computeKey());
  });

  // Bundles pages, builds and serves in a copy of the project: run when installation changes.
  it.skipIf(process.env.DEBDEX_TEST_INSTALLATION === undefined)(
    'H10: its steps make what builds, serves and says that it is well, without rights to write what they made',
    async () => {
      const folder = carryOut();
      const app = path.join(folder, 'app');
      spawnSync('chmod', ['-R', 'a-w,a+rX', app]);
      chmodSync(folder, 0o755);
      onTestFinished(() => void spawnSync('chmod', ['-R', 'u+w', app]));
      const port = String(await freePort());
      const pairs = instructions('ENV').flatMap((rest) => rest.split(' ').map((pair) => pair.split('=')));
      const environment: Record<string, string> = {
        ...Object.fromEntries(
          pairs.map(([name, value = '']) => [name, value.startsWith('/data') ? folder + value : value]),
        ),
        PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: folder,
        DEBDEX_HOST: '127.0.0.1',
        DEBDEX_PORT: port,
      };
      const options = { cwd: app, env: environment, ...nobody };
      const { services } = parse(recipe('compose.yaml')) as {
        services: Record<string, { command?: string[] }>;
      };
      const [every = '', , node = '', ...parameters] = services.build?.command ?? [];
      expect(existsSync(path.join(app, every))).toBe(true);
      const build = spawnSync(node, [...parameters, '--sample'], { ...options, encoding: 'utf8' });
      expect(build.stderr + build.status).toMatch(/0$/);

      const healthy = () => {
        const [program = '', ...rest] = list(instructions('HEALTHCHECK')[0] ?? '');
        const check = spawn(program, rest, options);
        return once(check, 'close').then(([code]) => code as number);
      };
      expect(await healthy()).toBe(1);
      const [program = '', ...rest] = list(instructions('CMD')[0] ?? '');
      const server = spawn(program, rest, { ...options, stdio: 'ignore' });
      onTestFinished(() => void server.kill('SIGKILL'));
      await expect.poll(healthy, patience).toBe(0);
      const page = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'text/html' } });
      expect(await page.text()).toContain('<html');
      server.kill(instructions('STOPSIGNAL')[0] as NodeJS.Signals);
      expect((await once(server, 'close'))[0]).toBe(0);
    },
    180_000,
  );
});

describe('what docs/operating.md runs in containers', () => {
  const page = readFileSync(path.join(project, 'docs/operating.md'), 'utf8').replaceAll('\\\n', '');
  const commands = page.split('\n').filter((line) => / (?:exec|run) .*(?:serve|build) /.test(line));

  it('is in the image', () => {
    const copied = instructions('COPY').flatMap((rest) => rest.split(' ').slice(0, -1));
    const named = commands.flatMap((line) => line.match(/(?:deploy|scripts)\/[\w/]+\.(?:sh|ts)/g) ?? []);
    expect(named).toEqual(expect.arrayContaining(['deploy/backup.sh', 'deploy/restore.sh', 'scripts/accept.ts']));
    for (const file of named) {
      const isCopied = copied.some((one) => file === one || file.startsWith(`${one}/`));
      expect(isCopied && isInContext(file), file).toBe(true);
    }
  });

  it('upgrades in the order of one VM: the build, then the server, and Caddy with its recipe', () => {
    const [, upgrade = ''] = /^- \*\*Containers:\*\* (`git pull`.*?)^- /ms.exec(page) ?? [];
    const steps = Array.from(upgrade.matchAll(/`docker compose … ([^`]+)`/g), ([, step]) => step);
    expect(steps).toEqual(['up -d --build build', 'logs -f build', 'up -d', 'restart caddy']);
  });

  it('brings a backup out, and in again', () => {
    const data = temporaryFolder();
    const [backUp, restore] = commands.flatMap((line) => / sh -c '([^']+)'/.exec(line)?.[1] ?? []);
    const run = (command = '', input = Buffer.alloc(0)) =>
      spawnSync('sh', ['-c', command.replaceAll('/data', data)], { cwd: project, input });
    mkdirSync(path.join(data, 'state'));
    writeFileSync(path.join(data, 'state/builds.jsonl'), '{}\n');
    writeFileSync(path.join(data, 'state/identifier'), 'one\n');
    const { stdout, status } = run(backUp);
    expect(status).toBe(0);
    expect(readdirSync(data)).toEqual(['state']);
    writeFileSync(path.join(data, 'state/builds.jsonl'), 'damaged');
    expect(run(restore, stdout).status).toBe(0);
    expect(readFileSync(path.join(data, 'state/builds.jsonl'), 'utf8')).toBe('{}\n');
    expect(readdirSync(data).sort()).toEqual(['state', 'state.before']);
  });
});

describe('deploy/docker/every.sh', () => {
  const start = (...parameters: string[]) => {
    const child = spawn(path.join(project, 'deploy/docker/every.sh'), parameters, { cwd: temporaryFolder() });
    onTestFinished(() => void child.kill('SIGKILL'));
    const said = { text: '' };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (said.text += piece));
    const ended = once(child, 'close').then(([code]) => code as number);
    return { child, said, ended };
  };

  it('runs again whatever a run ended with, and says with what', async () => {
    const { said, child, ended } = start('0', 'sh', '-c', 'echo run; exit 6');
    await expect.poll(() => said.text).toMatch(/(?:run\n[^\n]*ended with 6; again in 0 s\n){3}/);
    child.kill('SIGTERM');
    expect([6, 143]).toContain(await ended);
  });

  // One in sixty was gone before it was waited for, and said to have ended with 143.
  it('says of a run that is over at once what it ended with', async () => {
    const { said, child, ended } = start('0', 'sh', '-c', 'exit 6');
    await expect.poll(() => said.text.split('\n').length, patience).toBeGreaterThan(200);
    child.kill('SIGKILL');
    await ended;
    expect(new Set(said.text.split('\n').slice(0, 200))).toEqual(new Set(['every.sh: ended with 6; again in 0 s']));
  });

  it('ends where repeating mends nothing', async () => {
    expect(await start('0', 'sh', '-c', 'exit 2').ended).toBe(2);
  });

  it('H2: tells a run that it is to stop, waits for it, and ends with what it ended with', async () => {
    const { said, child, ended } = start(
      '3600',
      'sh',
      '-c',
      `trap 'echo finishing; exit 5' TERM; echo up; while :; do sleep 0.1; done`,
    );
    await expect.poll(() => said.text).toContain('up');
    child.kill('SIGTERM');
    expect(await ended).toBe(5);
    expect(said.text).toContain('finishing');
  });

  it('H2: stops at once between two runs', async () => {
    const { said, child, ended } = start('3600', 'true');
    await expect.poll(() => said.text).toContain('again in 3600 s');
    child.kill('SIGTERM');
    expect(await ended).toBe(143);
  });
});

describe('deploy/compose.yaml', () => {
  const text = recipe('compose.yaml');
  const { services, volumes } = parse(text, { merge: true, strict: true }) as {
    services: Record<string, Readonly<Record<string, unknown>> & { volumes?: string[]; depends_on?: object }>;
    volumes: object;
  };

  it('H10: runs our image without rights, with a root that cannot be written', () => {
    for (const name of ['build', 'serve']) {
      expect(services[name]).toMatchObject({
        image: 'debdex',
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    }
    expect(services.serve?.mem_limit).toBe('512m');
    expect(
      Object.entries(services)
        .filter(([, { ports }]) => ports !== undefined)
        .map(([name]) => name),
    ).toEqual(['caddy']);
  });

  it('asks no registry for the image that is made here', () => {
    const made = Object.entries(services).filter(([, { build }]) => build !== undefined);
    expect(made.map(([name, { image }]) => [name, image])).toEqual([['build', 'debdex']]);
    const others = Object.entries(services).filter(([, { image, build }]) => image === 'debdex' && build === undefined);
    expect(others.map(([name, { pull_policy }]) => [name, pull_policy])).toEqual([['serve', 'never']]);
  });

  // At three failed checks `up` ends, and leaves what waits for it created but never started.
  it('gives what is waited for the time that its first start takes', () => {
    const awaited = Object.values(services).flatMap(({ depends_on = {} }) =>
      Object.entries(depends_on).flatMap(([name, { condition }]) => (condition === 'service_healthy' ? [name] : [])),
    );
    expect(awaited).toEqual(['postgres']);
    for (const name of awaited) expect(services[name]?.healthcheck).toMatchObject({ start_period: '2m' });
  });

  it('names volumes, services, files and variables that there are', () => {
    const named = Object.keys(volumes);
    for (const { volumes: mounts = [], depends_on = {} } of Object.values(services)) {
      for (const mount of mounts) {
        const source = mount.replace(/^\$\{\w+:-(.*?)\}/, '$1').split(':')[0] ?? '';
        if (source.startsWith('./')) expect(existsSync(path.join(project, source)), source).toBe(true);
        else expect(named).toContain(source);
      }
      for (const one of Object.keys(depends_on)) expect(Object.keys(services)).toContain(one);
    }
    for (const [, name] of text.matchAll(/\$\{(\w+)[:}]/g))
      expect(recipe('compose.env')).toMatch(new RegExp(`^${name}=`, 'm'));
    expect(() =>
      placed(recipe('caddy/replicas.caddy'), { '{$DEBDEX_REPLICAS': '', '{$DEBDEX_SITE': '' }),
    ).not.toThrow();
  });
});
