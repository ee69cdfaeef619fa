import { describe, expect, test } from 'vitest';
import { namesIn, withoutMethods } from '../../scripts/bundling/unnamed-methods.ts';

const ofPackage = '/somewhere/node_modules/zod/v4/core/schemas.js';
const ofProject = '/somewhere/functions/app.ts';

/** The module of a package, as it is bundled beside a module of the project. */
const bundle = (code: string, project = ''): string =>
  withoutMethods(
    code,
    namesIn([
      { id: ofPackage, code },
      { id: ofProject, code: project },
    ]),
  );

/** Which of these methods are left. */
const left = (code: string, project?: string): string[] =>
  ['a', 'b', 'c'].filter((name) => new RegExp(`\\b${name}\\(\\) \\{`).test(bundle(code, project)));

describe('methods that nothing names', () => {
  const code = 'export class Query { a() { return 1; } get b() { return 2; } static c() { return 3; } }';

  test.each([
    ['nothing', '', []],
    ['a call', 'query.a();', ['a']],
    ['a property', 'const { type } = query.b;', ['b']],
    ['what is taken apart', 'const { b, c: other } = query;', ['b', 'c']],
    ['a text', "query['a'](); call('c');", ['a', 'c']],
    ['a part of a template', 'query[`a`]();', ['a']],
    ['a name that is no property', 'const a = b; c();', []],
    ['one of the same name on another object', 'other?.deep.c();', ['c']],
  ])('are left out, and kept for %s', (_, project, kept) => {
    expect(left(code, project)).toEqual(kept);
  });

  test('name nothing themselves until they are named', () => {
    const chain = 'export class Query { a() { this.b(); } b() { this.c(); } c() { this.a(); } }';
    expect(left(chain)).toEqual([]);
    expect(left(chain, 'query.b();')).toEqual(['a', 'b', 'c']);
    expect(left('export class Query { a() { this.b(); } b() {} c() { this.a(); } }', 'query.a();')).toEqual(['a', 'b']);
  });

  test('leave what is around them as it was', () => {
    const object = 'export const node = { kind: "a", b() { return 1; }, c: () => 2, d: 3, e: function () {}, };';
    expect(bundle(object)).toBe('export const node = { kind: "a",   d: 3,  };');
    const kept =
      'export class Query { constructor() {} #b() {} toString() { return this.#b(); } [c]() {} then() {} d = () => 1; }';
    expect(bundle(kept)).toBe(kept);
    // Of a module that no bundle has nobody knows the names, and it must be read all the same.
    const unread = 'class Query { constructor() { this.#b(); } #b() {} }';
    expect(withoutMethods(unread, new Set())).toBe(unread);
  });

  test('are those of packages alone', () => {
    const names = namesIn([{ id: ofProject, code: 'export const own = { a() { return this.b; } };' }]);
    expect([...names]).toEqual(['b']);
  });
});
