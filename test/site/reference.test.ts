import { describe, expect, it } from 'vitest';
import { createOpenApi } from '../../src/contract/openapi.ts';
import { documentOperations } from '../../src/contract/openapi-documents.ts';
import { describeOperations, findAlike, withListsOnce } from '../../src/site/reference.ts';

const views = describeOperations();
const view = (id: string) => views.find((one) => one.id === id);
const fields = views.flatMap((one) => [...one.fields, ...(one.body?.fields ?? [])]);
const field = (id: string, name: string) => view(id)?.fields.find((one) => one.name === name);

describe('the reference', () => {
  it('H5: names the type of every field, those that may be null among them', () => {
    expect(fields.length).toBeGreaterThan(100);
    const known =
      /^(?:(?:array of )?(?:string(?: \([a-z-]+\))?|integer|number|boolean|object|null|"[^"]*"|true|false|\d+)(?: \| |$))+$/;
    for (const { name, type } of fields) expect(type, name).toMatch(known);
    expect(field('package', 'description')?.type).toBe('string | null');
    expect(field('package', 'tags')?.type).toBe('array of string | null');
    expect(view('repository')?.fields.find(({ name, depth }) => name === 'date' && depth === 1)?.type).toBe(
      'string (date-time) | null',
    );
    expect(field('introspect', 'active')?.type).toBe('false | true');
    // The fields of a record that may be null are told too.
    expect(field('repositoryFindings', 'signers')?.depth).toBe(2);
  });

  it('H5: tells what is sent, field by field', () => {
    const body = view('downloadIngest')?.body;
    expect(body?.type).toBe('array of object');
    expect(body?.fields.filter(({ required }) => required).map(({ name }) => name)).toEqual([
      'package_id',
      'package_version',
    ]);
    expect(body?.fields.find(({ name }) => name === 'repository_uri')).toMatchObject({ type: 'string | null' });
    expect(view('refresh')?.body?.fields.map(({ name }) => name)).toEqual([
      'auth_token',
      'payment_secret',
      'refresh_token',
    ]);
  });

  it('H5: tells of every operation that is described, and of documents with the operation they belong to', () => {
    const { paths } = createOpenApi({ publicAddress: 'https://index.test', version: '1' }) as { paths: object };
    const files = new Set(Object.values(documentOperations).map(({ address }) => address));
    const addresses = Object.keys(paths).filter((address) => !files.has(address));
    expect(views.map(({ address }) => address).sort()).toEqual(addresses.sort());
    for (const { file } of Object.values(documentOperations)) {
      expect(views.map((one) => one.file)).toContain(file);
    }
  });

  it('tells a long list of values once: of others, which field has it', () => {
    const shown = withListsOnce(views);
    const codes = shown.flatMap((one) => one.fields.filter(({ name }) => name === 'code').map(({ type }) => type));
    const lists = codes.filter((type) => type.includes('"stanza-oversized"'));
    expect(lists).toHaveLength(1);
    const [first] = shown.filter(({ fields }) => fields.some(({ type }) => type.includes('"stanza-oversized"')));
    expect(codes.filter((type) => type === `one of those of “code” of “${first?.summary}”`)).toHaveLength(2);
    expect(shown.map(({ id }) => id)).toEqual(views.map(({ id }) => id));
    const short = shown.flatMap((one) => one.fields.filter(({ name }) => name === 'visibility'));
    for (const { type } of short) expect(type).not.toContain('one of those');
  });

  it('tells the fields of an answer once: of others, of which earlier one they are those, with its links or without', () => {
    const alike = findAlike(views);
    const told = (id: string) => [alike.get(id)?.of.id, alike.get(id)?.hasLinks];
    expect(told('packageSearch')).toEqual([undefined, undefined]);
    for (const id of ['packageMulti', 'package']) expect(told(id), id).toEqual(['packageSearch', true]);
    expect(told('liveness')).toEqual([undefined, undefined]);
    const tables = views.flatMap((one) => (alike.has(one.id) ? [] : [JSON.stringify(one.fields)]));
    expect(new Set(tables).size).toBe(tables.filter((table) => table !== '[]').length + 1);
    for (const [id, { of, hasLinks }] of alike) {
      const names = (one: string) => view(one)?.fields.flatMap(({ name, depth }) => (depth === 0 ? [name] : []));
      const ofFirst = names(of.id)?.filter((name) => !hasLinks || name !== 'refs');
      expect(names(id), id).toEqual(ofFirst);
    }
  });

  it('says of every parameter what it is and which values it takes', () => {
    const parameters = Object.fromEntries(views.flatMap((one) => one.parameters.map(({ name, text }) => [name, text])));
    expect(parameters.q).toContain('(required)');
    const limitOf = (id: string) =>
      views.find((one) => one.id === id)?.parameters.find(({ name }) => name === 'limit')?.text;
    expect(limitOf('packageSearch')).toContain('(1 to 250; 100 unless given)');
    expect(limitOf('repositoryPackages')).toContain('(1 to 1000; 1000 unless given)');
    expect(parameters.rank).toContain('(required; one of 1, 2, 3, 4, 5, *)');
    expect(parameters.price).toMatch(/ \(one of Free, Paid\)$/);
    // Values that the sentence explains one by one are not told again.
    for (const name of ['state', 'sort']) expect(parameters[name], name).not.toContain('one of');
    expect(parameters.priority).toMatch(/`bootstrap` .* \(default unless given\)$/);
    expect(parameters.packageId).toMatch(/^Package identifier/);
    for (const [name, text] of Object.entries(parameters)) expect(text, name).toMatch(/\w{3}/);
  });
});
