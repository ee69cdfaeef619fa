import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ChangeList, type Generation, generationPath, keptChangeLists } from '../../src/contract/generation.ts';
import { hasOtherHistory } from '../../src/following/mirror-plan.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { createSigner } from '../../src/publication/signature.ts';
import { temporaryFolder } from '../support/folder.ts';
import { begin, origin, read, take, useMirroredPublications } from '../support/mirrored-publication.ts';
import { privateKey, sha256 } from '../support/publication.ts';

useMirroredPublications();

describe('P2: a mirror believes of change lists, which nobody signs, no more than the generation says', () => {
  const next = { 'v2/a.json': '2', 'v2/b.json': '2' };

  /** A mirror of a signed publication, which has gone on, and whose list of that is another one. */
  const prepare = async (told: (list: ChangeList) => Partial<ChangeList>) => {
    const signer = await createSigner(privateKey);
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' }, { signer });
    const options = { publicKey: signer.publicKey };
    await take(folder, options);
    writeFileSync(path.join(folder, 'own.txt'), 'by hand');
    await publication.publish(next, { signer });
    const list = publication.changes(2);
    const lie = Buffer.from(JSON.stringify({ ...list, ...told(list) }));
    origin.intercept = (file) => (file === generationPath.changes(2) ? lie : undefined);
    return { publication, folder, options };
  };

  it('removes nothing by them that the generation before did not name', async () => {
    const removed = ['own.txt', generationPath.current, generationPath.changes(1), 'v2/catalog'];
    const { folder, options } = await prepare(({ documents }) => ({ documents: { ...documents, removed } }));
    await take(folder, options);
    expect(read(folder)).toEqual({ ...next, 'own.txt': 'by hand' });
    for (const file of removed) expect(existsSync(path.join(folder, file)), file).toBe(true);
  });

  it.each<[string, ChangeList['documents']]>([
    ['a file of no generation', { written: [...Object.keys(next), 'v2/z.json'], removed: [] }],
    [
      'a path that reads like two lines',
      { written: [`v2/a.json\n${sha256('2')}  v2/b.json`], removed: Object.keys(next) },
    ],
    ['too little', { written: ['v2/a.json'], removed: [] }],
  ])('takes nothing by one that names %s', async (_, documents) => {
    const { folder, options } = await prepare(() => ({ documents }));
    const answer = origin.intercept;
    origin.intercept = (file) => {
      if (file === 'v2/z.json' || file.includes('\n')) return Buffer.from('2');
      return answer?.(file);
    };
    await take(folder, options).catch(() => {});
    for (const file of ['v2/z.json', documents.written[0] ?? '']) {
      if (!(file in next)) expect(origin.asked).not.toContain(file);
    }
    origin.intercept = undefined;
    await take(folder, options);
    expect(read(folder)).toEqual({ ...next, 'own.txt': 'by hand' });
  });

  it('keeps no list in the place of another', async () => {
    const { folder, options, publication } = await prepare(() => ({ number: 1 }));
    await take(folder, options);
    expect(readFileSync(path.join(folder, generationPath.changes(1)), 'utf8')).toBe(
      publication.read(generationPath.changes(1)),
    );
  });

  it.each<[string, (list: Buffer) => Buffer]>([
    ['a page, as of a host that answers with it for all that is not there', () => Buffer.from('<!doctype html>')],
    ['of a form that no version has', () => Buffer.from('{"format":2}')],
    ['cut short', (list) => list.subarray(0, list.length / 2)],
  ])('P2: takes by the inventory what a list leads to that is %s', async (_, lie) => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    await take(folder);
    await publication.publish(next);
    const list = lie(Buffer.from(publication.read(generationPath.changes(2))));
    origin.intercept = (file) => (file === generationPath.changes(2) ? list : undefined);
    expect(await take(folder)).toMatchObject({ by: 'inventory', generation: { number: 2 } });
    expect(read(folder)).toEqual(next);
    expect(existsSync(path.join(folder, generationPath.changes(2)))).toBe(false);
  });

  it('H7: reads no more of all of them together than one may have', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '2', 'v2/b.json': '1' });
    await publication.publish(next);
    let isCut = false;
    origin.intercept = (file) => {
      if (file !== generationPath.changes(3) || isCut) return undefined;
      // As many as one may have, and the one before has some already.
      return (response) => {
        isCut = true;
        response.writeHead(200, { 'content-length': 256 * 2 ** 20 }).flushHeaders();
      };
    };
    expect(await take(folder)).toMatchObject({ by: 'inventory', generation: { number: 3 } });
    expect(read(folder)).toEqual(next);
  });

  it('H7: asks for no more of them than a publication keeps, whatever number it says', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '2' });
    const list = publication.changes(2);
    const far = Buffer.from(JSON.stringify({ ...publication.current, number: Number.MAX_SAFE_INTEGER }));
    origin.intercept = (file) => {
      const number = Number(/^v2\/changes\/(\d+)\.json$/.exec(file)?.[1]);
      // There is no end of them but that of this test.
      if (number > 1 && number <= 500) return Buffer.from(JSON.stringify({ ...list, number, previous: number - 1 }));
      return file === generationPath.current ? far : undefined;
    };
    await take(folder);
    expect(origin.asked.filter((file) => file.startsWith('v2/changes/')).length).toBeLessThan(10);
    expect(read(folder)).toEqual({ 'v2/a.json': '2' });
  });
});

it('P2: a mirror that is further behind than lists are kept does not take that for another history', async () => {
  const output = new OutputFolder(temporaryFolder());
  output.write(generationPath.changes(1), '{}');
  const isOther = (number: number) =>
    hasOtherHistory({ number: 1 } as Generation, { number } as Generation, output, {
      readChanges: async () => undefined,
    });
  expect(await isOther(keptChangeLists)).toBe(true);
  expect(await isOther(keptChangeLists + 1)).toBe(false);
});
