import { hash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { getSystemErrorName } from 'node:util';
import type { PathWithRoute } from 'astro';
import { findEntry, keepPageBundle } from './astro-inside.ts';
import { runInProcess } from './own-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Where `npm run bundle` writes the bundle of the pages. */
export const productFolder = path.join(root, 'bundle', 'pages');

/** The bundled pages, ready to render: what the entry of the bundle (src/pages/_entry.ts) gives. */
export interface Pages {
  /** Renders one page per request. */
  readonly app: {
    readonly render: (request: Request, options: { readonly routeData: PathWithRoute['route'] }) => Promise<Response>;
  };
  /** The cache key of a page as it was listed, computed now if that was deferred. */
  readonly readKey: (key: string) => string;
  /** Every page there is in the catalog at hand, and what its content depends on where it says so. */
  readonly listPages: () => Promise<readonly PathWithRoute[]>;
  /**
   * A page of which there are very many alike, rendered without a request where that comes to the same; else `byAstro`
   * renders it. Undefined where there are no others like it.
   *
   * @param pathname of a page, as Astro lists it
   */
  readonly renderAlike: (pathname: string, byAstro: () => Promise<string>) => Promise<string> | undefined;
  /** The same of files that are no pages: the feeds of packages, of which Astro would hand on what is answered as it is. */
  readonly answerAlike: (pathname: string) => string | undefined;
}

/** The bundle of a version of the source. */
export interface Bundle {
  /** Changes with everything that the pages are made of, except the catalog and the public address. */
  readonly key: string;
  readonly pages: Pages;
  /** What is published beside the pages: scripts, styles and drawings. */
  readonly client: string;
}

// What a bundle is made of besides packages and `src`.
const bundledFiles = ['CHANGELOG.md', 'package.json', 'astro.config.mjs', 'tsconfig.json', 'tsconfig.astro.json'];

const digestOf = (file: string): string => hash('sha256', readFileSync(file));

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => path.join(file.parentPath, file.name))
    .sort();

/**
 * What a bundle of the version of the source in `checkout` is known by. Every source counts, since a page may import any
 * of it, and so do the settings of the compiler and the versions of what is not ours.
 */
export const computeKey = (checkout = root): string => {
  const read = (name: string): string => {
    const file = path.join(checkout, name);
    return existsSync(file) ? digestOf(file) : '';
  };
  const sources = listFiles(path.join(checkout, 'src'));
  return hash(
    'sha256',
    JSON.stringify([
      ...[...bundledFiles, 'package-lock.json'].map(read),
      ...sources.map((file) => [path.relative(checkout, file), digestOf(file)]),
    ]),
  );
};

const markOf = (folder: string): string => path.join(folder, 'key');

/** The note of a complete bundle: the version of the source, and a digest of all files. */
const describe = (folder: string, key: string): string => {
  const files = listFiles(folder).filter((file) => file !== markOf(folder));
  return `${key}\n${hash('sha256', JSON.stringify(files.map((file) => [path.relative(folder, file), digestOf(file)])))}\n`;
};

/**
 * Whether a folder holds the whole bundle of the version of the source that has this key. All of it is read, which takes
 * milliseconds: pages of a damaged bundle would be published as they are.
 */
export const holds = (folder: string, key: string): boolean =>
  existsSync(markOf(folder)) && readFileSync(markOf(folder), 'utf8') === describe(folder, key);

const isAstroInstalled = (): boolean => {
  try {
    import.meta.resolve('astro');
    return true;
  } catch {
    return false;
  }
};

/** The pages are not bundled and cannot be. The message says what to do. */
export class NoBundle extends Error {
  override readonly name = 'NoBundle';

  constructor(options?: ErrorOptions) {
    super(
      'The pages are not bundled for this version of the source, and Astro, which bundles them, is not installed here: ' +
        'run "npm run bundle" where it is, and bring the folder "bundle" along, or build without pages (--no-site).',
      options,
    );
  }
}

/**
 * Checks, before there is anything to make pages from, that one of these folders has the bundle for this version of the
 * source, or that it can be made.
 *
 * @throws NoBundle if neither is so
 */
export const assertBundle = (folder: string, product = productFolder, canBundle = isAstroInstalled()): void => {
  if (canBundle) return;
  const key = computeKey();
  if (holds(product, key) || holds(folder, key)) return;
  throw new NoBundle();
};

const loadAstro = async () => {
  try {
    return await import('astro');
  } catch (cause) {
    throw new NoBundle({ cause });
  }
};

// Astro writes into the root of a project, and the checkout may be read-only, so it works on a small copy. Paths below
// the root stay the same, and so does everything derived from them.
const copySources = (folder: string): string => {
  for (const name of ['src', ...bundledFiles])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  return folder;
};

// The bundler is not written in JavaScript. It reports system errors in words, with the error number, in the middle of
// traces that do not help somebody who has to make room.
const refused = /^(.*)\n+Caused by:\n\s*(?:\d+: )?(.*) \(os error (\d+)\)$/m;

/** Converts an error of the bundler to a system error, if it was one. */
const toSystemError = (error: unknown): unknown => {
  const [, failed, reason, number] = refused.exec(error instanceof Error ? error.message : '') ?? [];
  if (number === undefined) return error;
  const code = getSystemErrorName(-Number(number));
  return Object.assign(new Error(`${code}: ${failed}: ${reason}`, { cause: error }), { code, syscall: 'write' });
};

/**
 * Bundles the pages into a folder, unless it has the bundle for this version of the source.
 *
 * @param named the folder, below links or not
 * @param runtime what the compiled pages call: this project's own runtime or, to compare with it, Astro's
 * @returns whether there was something to do
 * @throws Error if a page does not compile, AstroMoved if Astro works differently from what this project assumes
 */
export const makeBundle = async (named: string, runtime: 'own' | 'astro' = 'own'): Promise<boolean> => {
  const key = computeKey();
  if (holds(named, key)) return false;
  const { build } = await loadAstro();
  process.env.ASTRO_TELEMETRY_DISABLED = '1';
  rmSync(named, { recursive: true, force: true });
  mkdirSync(path.dirname(named), { recursive: true });
  // Astro knows a page by its name without links, and finds none whose name has one: a state folder may be a link.
  const folder = path.join(realpathSync(path.dirname(named)), path.basename(named));
  // The bundle is written below the working folder; otherwise into one that all builds of this project would share.
  const before = process.cwd();
  process.chdir(path.dirname(folder));
  const { integration, assertKept } = keepPageBundle(folder, path.join(folder, 'workplace'), runtime);
  const workplace = copySources(path.join(folder, 'workplace'));
  try {
    await build({
      root: workplace,
      outDir: path.join(folder, 'client') + path.sep,
      cacheDir: path.join(folder, 'cache') + path.sep,
      logLevel: 'error',
      integrations: [integration],
    });
  } catch (error) {
    throw toSystemError(error);
  } finally {
    process.chdir(before);
  }
  assertKept();
  for (const leftover of ['cache', 'workplace']) rmSync(path.join(folder, leftover), { recursive: true, force: true });
  writeFileSync(markOf(folder), describe(folder, key));
  return true;
};

/** A bundle that is ready, and not loaded yet. */
export interface PreparedBundle {
  readonly key: string;
  readonly folder: string;
}

/**
 * Resolves when there is a bundle of the pages: the one from `npm run bundle`, if it has this version of the source, or
 * else one that is made in a folder and kept there. Starting Astro and bundling takes longer than rendering the pages
 * of one changed repository.
 *
 * It is made in a separate process, because Astro's bundler takes some 400 MB outside of JavaScript's memory, which a
 * process keeps to its end.
 *
 * @throws Error with the failure of `makeBundle`
 */
export const prepareBundle = async (folder: string): Promise<PreparedBundle> => {
  const key = computeKey();
  if (holds(productFolder, key)) return { key, folder: productFolder };
  if (!holds(folder, key)) await runInProcess(new URL('./bundle-process.ts', import.meta.url), { folder });
  return { key, folder };
};

/** Loads a bundle, once in each thread. */
export const loadBundle = async ({ key, folder }: PreparedBundle): Promise<Bundle> => {
  const server = path.join(folder, 'server');
  const { pages } = (await import(pathToFileURL(path.join(server, findEntry(readdirSync(server)))).href)) as {
    readonly pages: Pages;
  };
  return { key, pages, client: path.join(folder, 'client') };
};
