import type { Plugin } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';

// A bundler leaves out functions that nothing imports, and no method of a class or an object that is used at all. Of the
// classes of packages most methods are such: whoever bundles cannot know which are called. But what is called has a name,
// and a method whose name stands nowhere in a bundle but where it is made is called by nobody.

/** Packages whose methods are left out so. Their methods are called by name, and the platform calls none of them. */
const packages = /[/\\]node_modules[/\\](?:hono|kysely|pg|pg-protocol|zod)[/\\]/;

/** What the language calls, and how a program hears of it nobody can see. */
const calledByLanguage = new Set(['constructor', 'then', 'toString', 'toJSON', 'valueOf', 'next', 'return', 'throw']);

/** A node of a syntax tree (ESTree). */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

/** Calls with each child of a node: trees have a million of them, and most fields hold none. */
const visitChildren = (node: Node, visit: (child: Node) => void): void => {
  for (const field in node) {
    const value = node[field];
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) {
      if (isNode(value)) visit(value);
    } else for (const one of value) if (isNode(one)) visit(one);
  }
};

const keyOf = ({ key, computed }: Node): string | undefined => {
  if (computed === true || !isNode(key) || key.type === 'PrivateIdentifier') return undefined;
  return typeof key.name === 'string' ? key.name : String(key.value);
};

const treeOf = (code: string): Node => parseAst(code, { lang: 'ts' }) as unknown as Node;

/** The name of a method that may be left out, of a class or of an object that is written down. */
const methodName = (node: Node, parent: Node | undefined): string | undefined => {
  const isMethod =
    node.type === 'MethodDefinition' ||
    (node.type === 'Property' &&
      parent?.type === 'ObjectExpression' &&
      isNode(node.value) &&
      /^(?:Arrow)?FunctionExpression$/.test(node.value.type));
  const name = isMethod ? keyOf(node) : undefined;
  return name === undefined || calledByLanguage.has(name) ? undefined : name;
};

/** The name by which a node speaks of a property; any text may be one. */
const nameIn = (node: Node, parent: Node | undefined): string | undefined => {
  if (node.type === 'MemberExpression' && node.computed !== true) return (node.property as Node).name as string;
  if (node.type === 'Property' && parent?.type === 'ObjectPattern') return keyOf(node);
  if (node.type === 'TemplateElement') return (node.value as { cooked: string | null }).cooked ?? undefined;
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
};

/** A module as it stands in a bundle. */
export interface BundledModule {
  /** Its path. */
  readonly id: string;
  readonly code: string;
}

/**
 * The names of properties that a bundle of these modules speaks of, or may. What a method speaks of that may be left out
 * counts once its own name does.
 */
export const namesIn = (modules: readonly BundledModule[]): ReadonlySet<string> => {
  const named = new Set<string>();
  /** What methods speak of whose name nothing has spoken of yet. */
  const waiting = new Map<string, Node[]>();
  const queue: Node[] = [];
  const read = (node: Node, parent: Node | undefined, isOfPackage: boolean): void => {
    const method = isOfPackage ? methodName(node, parent) : undefined;
    if (method !== undefined && !named.has(method)) {
      waiting.set(method, [...(waiting.get(method) ?? []), node.value as Node]);
      return;
    }
    const said = nameIn(node, parent);
    if (said !== undefined && !named.has(said)) {
      named.add(said);
      queue.push(...(waiting.get(said) ?? []));
      waiting.delete(said);
    }
    visitChildren(node, (child) => read(child, node, isOfPackage));
  };
  for (const { id, code } of modules) read(treeOf(code), undefined, packages.test(id));
  for (let method = queue.pop(); method !== undefined; method = queue.pop()) read(method, undefined, true);
  return named;
};

/** A module of a package without the methods that are not among these names. */
export const withoutMethods = (code: string, named: ReadonlySet<string>): string => {
  const cuts: Node[] = [];
  const read = (node: Node, parent: Node | undefined): void => {
    const method = methodName(node, parent);
    if (method !== undefined && !named.has(method)) cuts.push(node);
    else visitChildren(node, (child) => read(child, node));
  };
  read(treeOf(code), undefined);
  return cuts.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end).replace(/^\s*,/, ''), code);
};

/** Leaves out the methods of packages that are not among these names. */
export const withoutUnnamed = (named: ReadonlySet<string>): Plugin => ({
  name: 'without methods that nothing names',
  transform: { order: 'post', filter: { id: packages }, handler: (code) => withoutMethods(code, named) },
});
