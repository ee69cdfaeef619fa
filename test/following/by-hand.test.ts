import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { findProgram } from '../support/find-program.ts';
import { begin, origin, read, useMirroredPublications } from '../support/mirrored-publication.ts';

useMirroredPublications();

const page = readFileSync(path.join(import.meta.dirname, '..', '..', 'docs', 'publication.md'), 'utf8');
const [, script = ''] = /```sh\n(base=.*?)```/s.exec(page) ?? [];
const missing = ['bash', 'curl', 'jq', 'zstd'].filter((name) => findProgram(name) === undefined);

it.skipIf(missing.length > 0)(
  'P2: the commands of docs/publication.md bring a copy that is generations behind to what is published',
  async () => {
    const { publication, folder } = begin();
    // So many that the inventory of the last generation is an earlier one and the differences from it.
    const others = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`v2/${index}.json`, '1']));
    await publication.publish({ ...others, 'v2/a.json': '1', 'v2/b.json': '1', 'v2/left.json': '1' });
    cpSync(publication.out, folder, { recursive: true });
    await publication.publish({ ...others, 'v2/a.json': '2', 'v2/b.json': '1', 'v2/between.json': '2' });
    const last = { ...others, 'v2/a.json': '2', 'v2/b.json': '3', 'v2/g++.json': '3', 'v2/=41=2e.json': '3' };
    await publication.publish(last);
    expect(publication.current.documents.differences).toBeDefined();
    const here = script.replace('https://index.example.org', origin.address);
    expect(here).toContain(origin.address);
    const update = promisify(execFile)('bash', ['-c', here], { cwd: folder });
    // Of what came and went in between.
    expect((await update).stderr).toMatch(/404/);
    expect(read(folder)).toEqual(last);
    const generation = (of: string) => readFileSync(path.join(of, 'v2/generation.json'), 'utf8');
    expect(generation(folder)).toBe(generation(publication.out));
  },
);
