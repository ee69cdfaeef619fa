import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { collectExamples } from '../../scripts/examples/collect.ts';
import { examplesAddress, readExamples } from '../../scripts/examples/examples.ts';
import { createOpenApi } from '../../src/contract/openapi.ts';
import { type Operation, operations } from '../../src/contract/paths.ts';

const publicAddress = 'https://index.test';
const description = createOpenApi({ publicAddress, version: '1', examples: readExamples(publicAddress) });
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema({ $id: 'description', ...description });

interface Found {
  readonly place: string;
  readonly example: unknown;
}

/** Every example of the description that stands beside a schema: bodies and parameters. */
const findExamples = (value: unknown, place: readonly string[] = []): Found[] => {
  if (typeof value !== 'object' || value === null) return [];
  const here = 'schema' in value && 'example' in value ? [{ place: place.join('/'), example: value.example }] : [];
  const below = Object.entries(value)
    .filter(([name]) => name !== 'example')
    .flatMap(([name, child]) => findExamples(child, [...place, name.replaceAll('~', '~0').replaceAll('/', '~1')]));
  return [...here, ...below];
};
const found = findExamples(description);

describe('examples of the description', () => {
  it.each(found.map(({ place, example }) => [place, example] as const))('%s is valid', (place, example) => {
    const validate = ajv.compile({ $ref: `description#/${encodeURI(place)}/schema` });
    expect(validate(example), ajv.errorsText(validate.errors)).toBe(true);
  });

  it('are there for every operation that answers records, and for what is sent', () => {
    const paths = description.paths as Record<string, Record<string, { responses: Record<string, object> }>>;
    for (const { address, method, schema, body } of Object.values(operations) as Operation[]) {
      if (schema === undefined) continue;
      const place = `paths/${address.replaceAll('/', '~1')}/${method.toLowerCase()}`;
      expect(found.map((each) => each.place)).toContain(`${place}/responses/200/content/application~1json`);
      if (body) expect(found.map((each) => each.place)).toContain(`${place}/requestBody/content/application~1json`);
    }
    expect(Object.keys(paths)).toHaveLength(Object.keys(operations).length);
  });

  it('hold records, and lead to this service', () => {
    for (const name of ['package', 'packageSearch', 'packageMulti', 'repositorySearch', 'repositoryRanking'] as const) {
      const { data } = readExamples(publicAddress)[name] as { data: unknown[] };
      expect(data.length, name).toBeGreaterThan(0);
    }
    expect(JSON.stringify(description)).not.toContain(examplesAddress);
  });

  it('are what the bundled sample answers (npm run examples writes them anew)', async () => {
    // The digest of a build tells of more than what is answered.
    const withoutBuild = (examples: ReturnType<typeof readExamples>) =>
      JSON.parse(JSON.stringify(examples).replace(/"build":"[^"]*"/, '"build":""'));
    expect(withoutBuild(readExamples(examplesAddress))).toEqual(withoutBuild(await collectExamples()));
  });
});
