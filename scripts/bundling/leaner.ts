import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';

const project = path.join(import.meta.dirname, '..', '..');

const ofPackage = (name: string, files: string): RegExp =>
  new RegExp(`[/\\\\]node_modules[/\\\\]${name}[/\\\\]${files.replaceAll('/', '[/\\\\]')}\\.js$`);

/** Modules of packages that a Worker imports but never runs. */
export const neverRun: readonly RegExp[] = [
  // Only builds describe schemas.
  ofPackage('zod', 'v4/core/(?:to-json-schema|json-schema-processors)'),
  // The gateway makes its tables with SQL, does not rename them while it runs, and uses no plugins.
  ofPackage('kysely', 'dist/(?:schema|plugin/with-schema)/[\\w-]+'),
  ofPackage('kysely', 'dist/dynamic/dynamic'),
  ofPackage('kysely', 'dist/operation-node/operation-node-transformer'),
  ofPackage('kysely', 'dist/dialect/\\w+/\\w+-introspector'),
  // Kinds of statements that the gateway does not use.
  ofPackage('kysely', 'dist/query-builder/(?:case|json-path|merge-query|over)-builder'),
  // A provider encrypts ID tokens only for a client that has given it a key.
  ofPackage('jose', 'dist/webapi/jwe/compact/decrypt'),
  // PostgreSQL's password file, its driver in C, and channel binding.
  ofPackage('pgpass', 'lib/index'),
  ofPackage('pg', 'lib/(?:native/index|crypto/cert-signatures)'),
  // A Worker has one connection, and knows the parts of its address.
  ofPackage('pg-pool', 'index'),
  ofPackage('pg-connection-string', 'index'),
];

/** The store itself knows the types of its columns (functions/gateway/store/postgres-session.ts). */
export const columnsOfPostgres = ofPackage('pg-types', 'index');
const textAlone = 'module.exports = { getTypeParser: () => String };';

const quickHono = ofPackage('hono', 'dist/preset/quick');
/**
 * Leaves out Hono's router for routes with both a parameter and a star. We have none; a Worker with such a route would
 * answer nothing.
 */
const linearHono = `
import { HonoBase } from '../hono-base.js';
import { LinearRouter } from '../router/linear-router/router.js';
export class Hono extends HonoBase {
  router = new LinearRouter();
}`;

/** Support for values that contain themselves. A Worker checks only values from JSON, which cannot. */
export const cyclesOfZod = ofPackage('zod', 'v4/core/memoizer');
const noCycles =
  'const none = () => undefined; export { none as memoizer, none as isBackEdge, none as isRecursiveSchema };';

/** Modules of the project that only describe schemas. Builds do that, and publish the description. */
export const describing: readonly string[] = ['envelope', 'yaml'].map((name) =>
  path.join(project, 'src', 'contract', `${name}.ts`),
);

/** The names that a module exports. */
const namesOf = (text: string): readonly string[] =>
  parseAst(text, { lang: 'ts' }).body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.exportKind === 'type') return [];
    const { declaration, specifiers } = statement;
    if (declaration === null)
      return specifiers.map(({ exported }) => ('name' in exported ? exported.name : exported.value));
    const named = 'declarations' in declaration ? declaration.declarations : [declaration];
    return named.flatMap((one) => ('id' in one && one.id && 'name' in one.id ? [one.id.name] : []));
  });

/** A module with the same exports as another. Calling any of them throws an error that says it was left out. */
const nothingOf = (file: string): string => {
  const error = `${path.basename(file)} was left out of this bundle`;
  const nothing = `function nothing() { throw new Error(${JSON.stringify(error)}); }`;
  const names = namesOf(readFileSync(file, 'utf8'));
  // Older packages export by assignment.
  if (names.length === 0) return `${nothing}\nmodule.exports = nothing;`;
  return `${nothing}\nexport { ${names.map((name) => `nothing as ${name}`).join(', ')} };`;
};

const findingTexts = path.join(project, 'src', 'contract', 'finding-texts', path.sep);

/** A module that exports only data, as that data, without the code that computes it. */
const dataOf = async (file: string): Promise<string> =>
  Object.entries(await import(pathToFileURL(file).href))
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
    .join('\n');

const ofContract = /[/\\]src[/\\]contract[/\\][^.]+\.ts$/;

/** A description of a schema, as one text. */
const description = /\.describe\(\s*(?:'[^'\\]*(?:\\.[^'\\]*)*'|`[^`$\\]*`)\s*,?\s*\)/g;

/** The description of a parameter or an operation, as one text. Readers find it in the published description. */
const describingText = /\b(description|summary):\s*(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*"|`[^`]*`)/g;

/** Marks declarations as free of side effects, so that unused ones can be removed. */
const withoutEffects = (text: string): string =>
  parseAst(text, { lang: 'ts' })
    .body.flatMap((statement) => {
      const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
      return declared?.type === 'VariableDeclaration' ? declared.declarations.map(({ init }) => init) : [];
    })
    .filter((init) => init?.type === 'CallExpression')
    .reduceRight(
      (after, { start, end }) =>
        `${after.slice(0, start)}/* @__PURE__ */ (() => ${after.slice(start, end)})()${after.slice(end)}`,
      text,
    );

/** Modules whose long texts are all SQL statements. */
const ofStatements = /[/\\](?:src[/\\]catalog[/\\][\w-]+|downloads[/\\]counting|store[/\\]migrations)\.ts$/;

/** Comments and indentation of SQL statements. */
const besideStatement = /^ *-- .*\n| +-- .*$|^ +/gm;

const schemasOfZod = /[/\\]zod[/\\]v4[/\\]classic[/\\]schemas\.js$/;

/** Methods of string schemas for two dozen formats. The contract uses the functions of the same purpose. */
const formatMethod = /^ +\w+\(params\) \{\s+return this\.check\(core\._\w+\(Zod\w+, params\)\);\s+\},?$/gm;

/** How a schema describes itself, which only builds ask. */
const describingItself = /^ +inst\._zod\.processJSONSchema = .*;$/gm;

/** Checks of objects by code that zod makes from text. The platform does not allow that. */
const objectOfText = 'core.$ZodObjectJIT.init(';

/** The schemas of zod without what a Worker does not use of them. */
export const leanSchemas = (code: string): string =>
  [formatMethod, describingItself]
    .reduce((text, unused) => text.replace(unused, ''), code)
    .replace(objectOfText, 'core.$ZodObject.init(');

const englishOfZod = /[/\\]zod[/\\]v4[/\\]locales[/\\]en\.js$/;

/** Zod's English without its words for three dozen formats: a message has the plain name of one instead, such as url. */
export const leanEnglish = (code: string): string => code.replace(/(FormatDictionary = )\{[^}]*\}/, '$1{}');

const writersOfKysely =
  /[/\\]kysely[/\\]dist[/\\](?:query-compiler|operation-node)[/\\][\w-]+-(?:compiler|visitor)\.js$/;

/** Parts of statements that the gateway writes as SQL, or does not use. */
const unwritten = [
  'Add\\w+|Alter\\w+|Create\\w+|Drop\\w+|Modify\\w+|Refresh\\w+|Rename\\w+|\\w+Constraint|Constraint|References',
  'ColumnDefinition|DataType|Generated|DefaultValue|Merge\\w+|Matched|When|Case|Cast|Collate|JSON\\w+|Over|PartitionBy\\w*',
  'CommonTable\\w+|With|Explain|Fetch|Top|Output|Having',
].join('|');
const writing = new RegExp(`^ {4}visit(?:${unwritten})\\(\\w*\\) \\{\\n[\\s\\S]*?^ {4}\\}\\n`, 'gm');
const naming = new RegExp(`^ +\\w+Node: this\\.visit(?:${unwritten})\\.bind\\(this\\),\\n`, 'gm');

/** Leaves out what is imported and never used, and zod's messages in fifty languages, which are half of all bytes. */
export const leaner: Plugin = {
  name: 'leaner',
  resolveId(name, from) {
    // Hono without the router that compiles all routes first, which does not pay in a short-lived Worker.
    return name === 'hono' ? this.resolve('hono/quick', from) : null;
  },
  load: async (id) => {
    if (id.startsWith(findingTexts) && !id.endsWith('text-findings.ts')) return dataOf(id);
    if (/zod[/\\]v4[/\\]locales[/\\]index\.js$/.test(id)) return "export { default as en } from './en.js';";
    if (columnsOfPostgres.test(id)) return textAlone;
    if (cyclesOfZod.test(id)) return noCycles;
    if (quickHono.test(id)) return linearHono;
    return describing.includes(id) || neverRun.some((one) => one.test(id)) ? nothingOf(id) : undefined;
  },
  transform: {
    filter: { id: [ofContract, schemasOfZod, englishOfZod, writersOfKysely, ofStatements] },
    handler: (code, id) => {
      if (ofStatements.test(id)) return code.replace(besideStatement, '');
      if (writersOfKysely.test(id)) return code.replace(writing, '').replace(naming, '');
      if (schemasOfZod.test(id)) return leanSchemas(code);
      if (englishOfZod.test(id)) return leanEnglish(code);
      return withoutEffects(code.replace(description, '').replace(describingText, "$1: ''"));
    },
  },
};
