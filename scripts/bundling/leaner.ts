import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';

const project = path.join(import.meta.dirname, '..', '..');

const ofPackage = (name: string, files: string): RegExp =>
  new RegExp(`[/\\\\]node_modules[/\\\\]${name}[/\\\\]${files.replaceAll('/', '[/\\\\]')}\\.js$`);

/** Modules of packages that a Worker reaches and never runs. */
export const neverRun: readonly RegExp[] = [
  // A build describes schemas.
  ofPackage('zod', 'v4/core/(?:to-json-schema|json-schema-processors)'),
  // The platform makes no programs of text.
  ofPackage('zod', 'v4/core/doc'),
  // The gateway makes its tables by SQL, names none anew while it runs, and uses no plugins.
  ofPackage('kysely', 'dist/(?:schema|plugin/with-schema)/[\\w-]+'),
  ofPackage('kysely', 'dist/dynamic/dynamic'),
  ofPackage('kysely', 'dist/operation-node/operation-node-transformer'),
  ofPackage('kysely', 'dist/dialect/\\w+/\\w+-introspector'),
  // Statements of which it has none.
  ofPackage('kysely', 'dist/query-builder/(?:case|json-path|merge-query|over)-builder'),
  // A provider encrypts an ID token where its client has given it a key for that.
  ofPackage('jose', 'dist/webapi/jwe/compact/decrypt'),
  // PostgreSQL's passwords in a file, its driver in C, and how a password is bound to a certificate.
  ofPackage('pgpass', 'lib/index'),
  ofPackage('pg', 'lib/(?:native/index|crypto/cert-signatures)'),
  // A Worker has one connection, of whose address it knows the parts.
  ofPackage('pg-pool', 'index'),
  ofPackage('pg-connection-string', 'index'),
];

/** What columns hold the store says itself (functions/gateway/store/postgres-session.ts). */
export const columnsOfPostgres = ofPackage('pg-types', 'index');
const textAlone = 'module.exports = { getTypeParser: () => String };';

const quickHono = ofPackage('hono', 'dist/preset/quick');
/** Without the router for routes with both a parameter and a star: there are none, and with one a Worker would answer nothing. */
const linearHono = `
import { HonoBase } from '../hono-base.js';
import { LinearRouter } from '../router/linear-router/router.js';
export class Hono extends HonoBase {
  router = new LinearRouter();
}`;

/** What holds where a value holds itself: those that a Worker checks are of JSON, which cannot. */
export const cyclesOfZod = ofPackage('zod', 'v4/core/memoizer');
const noCycles =
  'const none = () => undefined; export { none as memoizer, none as isBackEdge, none as isRecursiveSchema };';

/** Modules of the project that only describe, which a build does: the description is published. */
export const describing: readonly string[] = ['envelope', 'yaml'].map((name) =>
  path.join(project, 'src', 'contract', `${name}.ts`),
);

/** What a module exports by names. */
const namesOf = (text: string): readonly string[] =>
  parseAst(text, { lang: 'ts' }).body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.exportKind === 'type') return [];
    const { declaration, specifiers } = statement;
    if (declaration === null)
      return specifiers.map(({ exported }) => ('name' in exported ? exported.name : exported.value));
    const named = 'declarations' in declaration ? declaration.declarations : [declaration];
    return named.flatMap((one) => ('id' in one && one.id && 'name' in one.id ? [one.id.name] : []));
  });

/** A module with the names of another; what runs one of them is told that it is not there. */
const nothingOf = (file: string): string => {
  const error = `${path.basename(file)} was left out of this bundle`;
  const nothing = `function nothing() { throw new Error(${JSON.stringify(error)}); }`;
  const names = namesOf(readFileSync(file, 'utf8'));
  // Older packages export by assignment.
  if (names.length === 0) return `${nothing}\nmodule.exports = nothing;`;
  return `${nothing}\nexport { ${names.map((name) => `nothing as ${name}`).join(', ')} };`;
};

const findingTexts = path.join(project, 'src', 'contract', 'finding-texts', path.sep);

/** A module of nothing but data as that data, without what it is computed of. */
const dataOf = async (file: string): Promise<string> =>
  Object.entries(await import(pathToFileURL(file).href))
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
    .join('\n');

const ofContract = /[/\\]src[/\\]contract[/\\][^.]+\.ts$/;

/** What a schema says of itself, as one text. */
const description = /\.describe\(\s*(?:'[^'\\]*(?:\\.[^'\\]*)*'|`[^`$\\]*`)\s*,?\s*\)/g;

/** What the description says of a parameter or an operation, as one text: whoever reads the description has it from there. */
const describingText = /\b(description|summary):\s*(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*"|`[^`]*`)/g;

/** A module of declarations, of which those that nobody names can go: making them does nothing else. */
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

/** Modules whose long texts are statements of SQL, and nothing else. */
const ofStatements = /[/\\](?:src[/\\]catalog[/\\][\w-]+|downloads[/\\]counting|store[/\\]migrations)\.ts$/;

/** What stands beside statements, and how far they are moved in. */
const besideStatement = /^ *-- .*\n| +-- .*$|^ +/gm;

const schemasOfZod = /[/\\]zod[/\\]v4[/\\]classic[/\\]schemas\.js$/;

/** Methods of a text's schema for two dozen formats, which have functions too: those are what the contract calls. */
const formatMethod = /^ +\w+\(params\) \{\s+return this\.check\(core\._\w+\(Zod\w+, params\)\);\s+\},?$/gm;

const writersOfKysely =
  /[/\\]kysely[/\\]dist[/\\](?:query-compiler|operation-node)[/\\][\w-]+-(?:compiler|visitor)\.js$/;

/** Parts of statements that the gateway writes as SQL, or not at all. */
const unwritten = [
  'Add\\w+|Alter\\w+|Create\\w+|Drop\\w+|Modify\\w+|Refresh\\w+|Rename\\w+|\\w+Constraint|Constraint|References',
  'ColumnDefinition|DataType|Generated|DefaultValue|Merge\\w+|Matched|When|Case|Cast|Collate|JSON\\w+|Over|PartitionBy\\w*',
  'CommonTable\\w+|With|Explain|Fetch|Top|Output|Having',
].join('|');
const writing = new RegExp(`^ {4}visit(?:${unwritten})\\(\\w*\\) \\{\\n[\\s\\S]*?^ {4}\\}\\n`, 'gm');
const naming = new RegExp(`^ +\\w+Node: this\\.visit(?:${unwritten})\\.bind\\(this\\),\\n`, 'gm');

/** Without what is reached and never used, and without zod's sentences in fifty languages, which are half of all bytes. */
export const leaner: Plugin = {
  name: 'leaner',
  resolveId(name, from) {
    // Hono without the router that compiles all routes, which a Worker that lives shortly asks seldom.
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
    filter: { id: [ofContract, schemasOfZod, writersOfKysely, ofStatements] },
    handler: (code, id) => {
      if (ofStatements.test(id)) return code.replace(besideStatement, '');
      if (writersOfKysely.test(id)) return code.replace(writing, '').replace(naming, '');
      if (schemasOfZod.test(id)) return code.replace(formatMethod, '');
      return withoutEffects(code.replace(description, '').replace(describingText, "$1: ''"));
    },
  },
};
