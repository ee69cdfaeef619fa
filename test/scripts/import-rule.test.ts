import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cruise, type ICruiseResult, type IFlattenedRuleSet } from 'dependency-cruiser';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';

const root = path.join(import.meta.dirname, '..', '..');

interface Rule {
  readonly name: string;
  readonly from: { readonly path?: string | readonly string[] };
  readonly to: { readonly path?: string | readonly string[] };
}
const { default: rules } = (await import(path.join(root, '.dependency-cruiser.mjs'))) as {
  default: { readonly forbidden: readonly Rule[] };
};

/** The files of those given by name that break a rule. */
const findBreaking = async (files: Readonly<Record<string, string>>, broken: string): Promise<string[]> => {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const { output } = await cruise(['src', 'functions', 'clients'], {
    baseDir: folder,
    validate: true,
    tsPreCompilationDeps: true,
    ruleSet: rules as unknown as IFlattenedRuleSet,
  });
  const { violations } = (output as ICruiseResult).summary;
  return violations.filter(({ rule }) => rule.name === broken).map(({ from }) => from);
};

it('what any host runs reaches no module of Node, by itself or through others', async () => {
  const places = [
    'functions/app',
    'functions/dependencies',
    'functions/environment',
    ...['routes', 'http', 'health', 'downloads', 'cloudflare', 'gateway', 'gateway/routes', 'gateway/pages'].map(
      (room) => `functions/${room}/a`,
    ),
    'functions/gateway/store/credential-store',
    ...['documents', 'search', 'results', 'compatibility', 'safety', 'contract'].map((room) => `src/${room}/a`),
    'clients/typescript/a',
  ];
  const direct = 'import { createHash } from "node:crypto";\nexport const a = createHash;\n';
  const through = 'import { b } from "./b/b.ts";\nexport const a = b;\n';
  const anyHost = 'what answers runs on any host: it reaches no module of Node';
  const names = places.map((place) => `${place}.ts`);
  const itself = Object.fromEntries(names.map((name) => [name, direct]));
  expect((await findBreaking(itself, anyHost)).sort()).toEqual(names.sort());
  const others = names.flatMap((name) => [
    [name, through],
    [`${path.dirname(name)}/b/b.ts`, 'import fs from "fs";\nexport const b = fs;\n'],
  ]);
  expect(await findBreaking(Object.fromEntries(others), anyHost)).toEqual(expect.arrayContaining(names));
});

it('the import rule speaks of nothing but what is there', () => {
  const files = globSync('{src,functions,scripts,test}/**/*.{ts,astro,css}', { cwd: root });
  const spoken = rules.forbidden.flatMap(({ name, from, to }) =>
    [from.path, to.path]
      .flat()
      .filter((one) => one !== undefined)
      .filter((one) => /^\^\(?(src|functions|scripts|test)\b/.test(one))
      .map((one) => `${name}: ${one}`),
  );
  expect(spoken.length).toBeGreaterThan(30);
  const isThere = (one: string) => files.some((file) => new RegExp(one.slice(one.indexOf(': ^') + 2)).test(file));
  expect(spoken.filter((one) => !isThere(one))).toEqual([]);
});
