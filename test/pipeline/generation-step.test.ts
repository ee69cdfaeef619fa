import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { generationPath, generationSchema, portionsFolder } from '../../src/contract/generation.ts';
import type { PreparedInput } from '../../src/pipeline/build-input.ts';
import { tellOfGeneration } from '../../src/pipeline/generation-step.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { buildCatalog, packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { readInventoryOf } from '../support/inventory.ts';
import { sha256 } from '../support/publication.ts';

const files = ['v2/a.json', 'index.html'];

it('P1: after an interrupted publication, a generation is computed from the files that exist, not from what this build wrote', async () => {
  const [state, out] = [temporaryFolder(), temporaryFolder()];
  await buildCatalog(state, [{ slug: 'one', packages: packages({}) }]);
  const input = {
    ...{ state, out, now: () => new Date('2026-05-01T00:00:00Z') },
    progress: { step: (_name: string, work: () => unknown) => work() },
  } as unknown as PreparedInput;
  const publish = (output: OutputFolder, resumes: boolean, pages = new Set(files.slice(1))) =>
    tellOfGeneration(input, output, {
      ...{ documents: files.slice(0, 1), standing: undefined, pages: pages.size === 0 ? undefined : pages, resumes },
    });
  const told = () => {
    const { documents } = generationSchema.parse(
      JSON.parse(readFileSync(path.join(out, generationPath.current), 'utf8')),
    );
    return readInventoryOf(out, documents);
  };
  const first = new OutputFolder(out);
  for (const file of files) first.write(file, 'first');
  expect(await publish(first, false)).toMatchObject({ isNew: true, generation: { number: 1 } });
  // As one does that is killed before it told of it.
  for (const file of files) new OutputFolder(out).write(file, 'second');
  expect(await publish(new OutputFolder(out), false)).toMatchObject({ isNew: false });
  expect(await publish(new OutputFolder(out), true)).toMatchObject({ isNew: true, generation: { number: 2 } });
  expect([...told()]).toEqual([...files].sort().map((file) => [file, sha256('second')]));
  // Without pages in this build those of the one before stand on.
  const third = new OutputFolder(out);
  third.write('v2/a.json', 'third');
  await publish(third, false, new Set());
  expect(told().get('index.html')).toBe(sha256('second'));
  // With pages those that it does not have any more are about to go.
  const fourth = new OutputFolder(out);
  fourth.write('about.html', 'fourth');
  await publish(fourth, false, new Set(['about.html']));
  expect([...told().keys()]).toEqual(['about.html', 'v2/a.json']);
});

it("E2: the former generation's rows stay until the next one is in force, and a failure to write rows ends the build", async () => {
  const [state, out] = [temporaryFolder(), temporaryFolder()];
  const input = {
    ...{ state, out, portions: true, now: () => new Date('2026-05-01T00:00:00Z') },
    progress: { step: (_name: string, work: () => unknown) => work() },
  } as unknown as PreparedInput;
  const publish = async (version: string, output = new OutputFolder(out)) => {
    await buildCatalog(state, [{ slug: 'one', packages: packages({ Version: version }) }]);
    const told = { documents: [], standing: undefined, pages: undefined, resumes: false };
    return tellOfGeneration(input, output, told);
  };
  const rows = () => readdirSync(path.join(out, portionsFolder));
  await publish('1');
  const first = rows();
  expect(await publish('2')).toMatchObject({ isNew: true, generation: { number: 2 } });
  expect(await publish('2')).toMatchObject({ isNew: false });
  expect(rows()).toEqual(expect.arrayContaining(first));
  await publish('3');
  expect(rows()).not.toEqual(expect.arrayContaining(first));
  const output = new OutputFolder(out);
  const write = output.write.bind(output);
  output.write = (file, ...content) => {
    if (file.startsWith(portionsFolder)) throw new Error('of the test');
    write(file, ...content);
  };
  await expect(publish('4', output)).rejects.toThrow('of the test');
});
