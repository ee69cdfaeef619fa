import { hash } from 'node:crypto';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { generationPath, type PortionList, portionListSchema, portionsFolder } from '../../src/contract/generation.ts';
import { BuiltPublication } from '../support/built-publication.ts';
import { packages, type SourceRepository } from '../support/catalog.ts';

const repository = (text: string, count = 300): SourceRepository => ({
  slug: 'one',
  packages: packages(
    ...Array.from({ length: count }, (_, at) => ({
      Package: `com.example.p${at}`,
      Description: `${at === 0 ? text : 'still'} `.repeat(400),
    })),
  ),
});

const open = () => {
  const publication = new BuiltPublication();
  publication.hasPortions = true;
  const listOf = (): PortionList =>
    portionListSchema.parse(JSON.parse(publication.read(publication.current.portions?.path ?? '').toString()));
  const named = () => [
    publication.current.portions?.path ?? '',
    ...new Set(listOf().portions.flatMap(({ rows, sha256 }) => (rows > 0 ? generationPath.portion(sha256) : []))),
  ];
  const standing = () => publication.files(true).filter((file) => file.startsWith(`${portionsFolder}/`));
  const pathOf = (file: string) => path.join(publication.folder, file);
  return { publication, listOf, named, standing, pathOf };
};

/** Holds the portions that the generation in force names to what its list says of them. */
const expectSound = ({ publication, listOf, named, standing }: ReturnType<typeof open>) => {
  expect(hash('sha256', publication.read(publication.current.portions?.path ?? ''))).toBe(
    publication.current.portions?.sha256,
  );
  expect(standing()).toEqual(expect.arrayContaining(named()));
  const rows: Record<string, number> = {};
  for (const one of listOf().portions) {
    rows[one.table] = (rows[one.table] ?? 0) + one.rows;
    if (one.rows === 0) {
      expect(one).toMatchObject({ size: 0, compressed_size: 0 });
      continue;
    }
    const bytes = publication.read(generationPath.portion(one.sha256));
    const text = gunzipSync(bytes);
    expect([hash('sha256', text), text.length, bytes.length]).toEqual([one.sha256, one.size, one.compressed_size]);
  }
  expect(listOf().rows).toEqual(rows);
};

describe('a catalog that is published as rows', () => {
  it('E2: has a file for each portion with rows, and none else', async () => {
    const opened = open();
    await opened.publication.publish([repository('x', 3)]);
    expectSound(opened);
    expect(opened.listOf().portions.some(({ rows }) => rows === 0)).toBe(true);
    expect(opened.standing().sort()).toEqual(opened.named().sort());
    // The same catalog again is not read again.
    const inodes = () => opened.named().map((file) => statSync(opened.pathOf(file)).ino);
    const [catalog, before] = [opened.publication.current.catalog.sha256, inodes()];
    await opened.publication.publish([repository('x', 3)]);
    expect(opened.publication.current.catalog.sha256).toBe(catalog);
    expect(inodes()).toEqual(before);
  });

  it('E2: writes what is new, keeps what the generation before names, and removes what is older', async () => {
    const opened = open();
    const { publication, named, standing, pathOf } = opened;
    await publication.publish([repository('first')]);
    const first = named();
    const writtenAt = new Map(first.map((file) => [file, statSync(pathOf(file)).ino]));
    await publication.publish([repository('second')]);
    const second = named();
    const shared = second.filter((file) => writtenAt.has(file));
    expect(shared.length).toBeGreaterThan(2);
    expect(shared.length).toBeLessThan(second.length);
    for (const file of shared) expect(statSync(pathOf(file)).ino, file).toBe(writtenAt.get(file));
    expectSound(opened);
    expect(standing().sort()).toEqual([...new Set([...first, ...second])].sort());
    await publication.publish([repository('third')]);
    expectSound(opened);
    expect(standing().sort()).toEqual([...new Set([...second, ...named()])].sort());
    publication.hasPortions = false;
    await publication.publish([repository('fourth')]);
    expect(existsSync(pathOf(portionsFolder)) ? standing() : []).toEqual([]);
  });

  it('P2: writes again what was lost or cut off since, and all of it where its list was', async () => {
    const opened = open();
    const { publication, listOf, pathOf } = opened;
    const whole = [repository('x')];
    await publication.publish(whole);
    const [one = '', other = ''] = listOf().portions.flatMap(({ rows, sha256 }) =>
      rows > 0 ? generationPath.portion(sha256) : [],
    );
    const cutOff = () => writeFileSync(pathOf(other), publication.read(other).subarray(1));
    cutOff();
    await publication.publish(whole);
    expectSound(opened);
    // The same catalog, and one that has most of its portions.
    for (const next of [whole, [repository('y')]]) {
      rmSync(pathOf(one));
      cutOff();
      await publication.publish(next);
      // What is not named any more need not be there.
      expectSound(opened);
      await publication.publish(whole);
      expectSound(opened);
    }
    const listed = publication.current.portions?.path ?? '';
    writeFileSync(pathOf(listed), publication.read(listed).toString().replace('"rows":', '"rows" :'));
    await publication.publish(whole);
    expectSound(opened);
  });
});
