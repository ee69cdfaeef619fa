import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildOptions, buildVariables } from '../../scripts/build-options.ts';
import { exitCodes } from '../../scripts/exit-codes.ts';
import { type Option, variableOf } from '../../scripts/options.ts';
import { replicaOptions, serverOptions } from '../../scripts/server-options.ts';
import { project, recipe } from '../support/deployed.ts';
import { findProgram } from '../support/find-program.ts';
import { temporaryFolder } from '../support/folder.ts';

const files = readdirSync(path.join(project, 'deploy', 'systemd'));
const services = files.filter((file) => file.endsWith('.service'));
const { scripts } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

const settings = (file: string, name: string): string[] =>
  Array.from(recipe(`systemd/${file}`).matchAll(new RegExp(`^${name}=(.*)$`, 'gm')), ([, value = '']) => value);

const variablesOf = (text: string): string[] =>
  Array.from(text.matchAll(/(?:^|[ =#])(DEBDEX_[A-Z_]+)=/gm), ([, name = '']) => name);

const known = (...tables: Readonly<Record<string, Option>>[]): Set<string> =>
  new Set(tables.flatMap((table) => Object.entries(table).map(([name, option]) => variableOf(name, option))));

// systemd reads a template by the name of an instance, and knows no user or folder of a machine that is not there.
const unpack = (): string => {
  const folder = temporaryFolder();
  for (const file of files) {
    copyFileSync(path.join(project, 'deploy/systemd', file), path.join(folder, file.replace('@.', '@8081.')));
  }
  return folder;
};

const missing = findProgram('systemd-analyze') === undefined;
const analyze = (folder: string, ...parameters: string[]) =>
  spawnSync('systemd-analyze', parameters, { cwd: folder, encoding: 'utf8' });

describe('the units for systemd', () => {
  it.each(services)('%s starts what npm starts', (file) => {
    const command = file.includes('build') ? scripts.build : scripts.serve;
    expect(settings(file, 'ExecStart').map((line) => line.replace('/usr/bin/env ', 'exec '))).toEqual([command]);
    expect(settings(file, 'WorkingDirectory')).toEqual(['/opt/debdex']);
  });

  it('name variables that the commands have, and every other line is a comment', () => {
    const ofBuilds = new Set([...known(buildOptions, serverOptions), ...buildVariables.map(([name]) => name)]);
    const ofReplicas = known(serverOptions, replicaOptions);
    for (const file of files.filter((name) => !name.endsWith('.timer'))) {
      const isOfReplica = file.includes('replica');
      for (const name of variablesOf(recipe(`systemd/${file}`))) {
        expect(isOfReplica ? ofReplicas : ofBuilds, `${file}: ${name}`).toContain(name);
      }
    }
    for (const file of files.filter((name) => name.endsWith('.env'))) {
      const lines = recipe(`systemd/${file}`).split('\n').filter(Boolean);
      for (const line of lines) expect(line).toMatch(/^(?:#.*|[A-Z_]+=\S+)$/);
    }
  });

  it('take a build that met another for no failure, and every code that needs a look for one', () => {
    const codes = settings('debdex-build.service', 'SuccessExitStatus').join(' ').split(' ').map(Number);
    expect(codes).toEqual([exitCodes.busy, 143]);
  });

  it.skipIf(missing)('are understood by systemd without a warning', () => {
    const folder = unpack();
    const units = readdirSync(folder).filter((file) => /\.(?:service|timer)$/.test(file));
    const { status, stderr } = analyze(folder, 'verify', '--man=no', ...units.map((unit) => `./${unit}`));
    // Documentation of a machine that has no /opt/debdex, nothing else.
    expect(stderr.split('\n').filter((line) => line !== '')).toEqual([]);
    expect(status).toBe(0);
  });

  it.skipIf(missing)('H10: leave the services nothing but their folders and the network', () => {
    const folder = unpack();
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.service'))) {
      const { status, stdout, stderr } = analyze(folder, 'security', '--offline=yes', '--threshold=18', `./${file}`);
      expect(status, stdout + stderr).toBe(0);
      const text = readFileSync(path.join(folder, file), 'utf8');
      expect(text).toContain('ProtectSystem=strict');
      expect(text).toMatch(/^(?:ReadWritePaths=\/var\/lib\/debdex|StateDirectory=debdex-replica-%i)$/m);
    }
  });

  it.skipIf(missing)('build every hour, and once after a time switched off', () => {
    expect(settings('debdex-build.timer', 'Persistent')).toEqual(['true']);
    const [when = ''] = settings('debdex-build.timer', 'OnCalendar');
    expect(analyze(project, 'calendar', when).stdout).toContain('*-*-* *:00:00');
  });
});
