import type { Plugin } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';

// A bundler removes functions that nothing imports, but no method of a class or object that is used at all. Most
// methods of packages' classes are unused, but a bundler cannot know which ones. However, a call names the method. So a
// method whose name occurs nowhere in a bundle except where it is defined is never called.

/** Packages whose unused methods are removed. Their methods are called by name, and the platform calls none of them. */
const packages = /[/\\]node_modules[/\\](?:hono|kysely|pg|pg-protocol|zod)[/\\]/;

/** Methods that the language itself calls, without naming them in the code. */
const calledByLanguage = new Set(['constructor', 'then', 'toString', 'toJSON', 'valueOf', 'next', 'return', 'throw']);

/** A node of a syntax tree (ESTree). */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

/** Calls `visit` for each child of a node. Trees have a million nodes, and most of their fields hold none. */
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

/** The name of a method of a class or object literal that may be removed; undefined if the node is none. */
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

/** The property name that a node mentions. Any string may be one. */
const nameIn = (node: Node, parent: Node | undefined): string | undefined => {
  if (node.type === 'MemberExpression' && node.computed !== true) return (node.property as Node).name as string;
  if (node.type === 'Property' && parent?.type === 'ObjectPattern') return keyOf(node);
  if (node.type === 'TemplateElement') return (node.value as { cooked: string | null }).cooked ?? undefined;
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
};

/** A module as it is in a bundle. */
export interface BundledModule {
  /** Its path. */
  readonly id: string;
  readonly code: string;
}

/**
 * All property names that these modules mention or may mention. What a removable method mentions counts only if the
 * method's own name is mentioned.
 */
export const namesIn = (modules: readonly BundledModule[]): ReadonlySet<string> => {
  const named = new Set<string>();
  /** The bodies of methods whose name has not been mentioned yet. */
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

/** Removes the methods with other names than these from a module of a package. */
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

/** A plugin that removes the methods of packages with other names than these. */
export const withoutUnnamed = (named: ReadonlySet<string>): Plugin => ({
  name: 'without methods that nothing names',
  transform: { order: 'post', filter: { id: packages }, handler: (code) => withoutMethods(code, named) },
});
