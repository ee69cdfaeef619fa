import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { OriginServer } from '../support/origin-server.ts';

const safetyFile = path.join(import.meta.dirname, '..', '..', 'data', 'safety.yaml');

it('share pictures are of some packages, and of all where the service says so, each named by its page', async () => {
  const origin = await OriginServer.start();
  onTestFinished(() => origin.stop());
  const packages = 52;
  origin.serve('one', await generateRepository({ packages: makePackages(packages, 'one') }));
  const bench = new BuildBench({ site: true });
  bench.list([{ slug: 'one', uri: origin.uri('one') }]);
  const data = (lines = ''): string => {
    const service = 'name: Mine\ncontact_email: ops@mine.test\ncopyright: Me\nprivacy_updated: "2026-11-22"\n';
    writeFileSync(path.join(bench.folder, 'service.yaml'), service + lines);
    writeFileSync(path.join(bench.folder, 'safety.yaml'), readFileSync(safetyFile));
    return `DEBDEX_DATA=${bench.folder} `;
  };
  const pictures = () => globSync('package/*/preview.png', { cwd: bench.out });
  const named = () =>
    globSync('package/*/index.html', { cwd: bench.out }).filter((page) =>
      readFileSync(path.join(bench.out, page), 'utf8').includes(`/${path.dirname(page)}/preview.png"`),
    );

  expect(await bench.build(data('share_pictures: all\n'))).toMatchObject({ status: 0 });
  expect([pictures().length, named().length]).toEqual([packages, packages]);
  expect(bench.findDamage()).toEqual([]);
  expect(await bench.build(data('share_pictures: many\n'))).toMatchObject({
    status: 2,
    text: expect.stringMatching(/must be some or all.*at share_pictures/s),
  });
  // As where nothing is said of them.
  expect(await bench.build(data())).toMatchObject({ status: 0 });
  expect([pictures().length, named().length]).toEqual([50, 50]);
  expect(existsSync(path.join(bench.out, 'repository', 'one', 'preview.png'))).toBe(true);
});
