import { renameSync } from 'node:fs';
import path from 'node:path';
import type { AstroIntegration } from 'astro';

// Everything in this project that relies on the internals of Astro rather than on its documentation. Each line below
// states an assumption. If a release of Astro breaks one, bundling throws a sentence that names it:
//
// 1. An adapter may take over the rendering of pages (`setPrerenderer`), and Astro then bundles them in a Vite
//    environment of their own called `prerender`.
// 2. That bundle is in the folder `.prerender` of the output until the build ends.
// 3. Its entry is called `prerender-entry` and a hash.
// 4. The bundle can list its paths and render them with `astro:static-paths` and `astro/app/entrypoint`
//    (src/pages/_entry.ts).
// 5. Compiled pages and components call a runtime named `astro/compiler-runtime`, and no more of it than
//    page-runtime.ts implements, with the same results as Astro's own (a test compares all pages of a sample).

// Below the root that Astro is given.
const entry = path.join('src', 'pages', '_entry.ts');
const ownRuntime = path.join('src', 'site', 'page-runtime.ts');
const runtimeName = 'astro/compiler-runtime';
const environmentName = 'prerender';
const bundleFolder = '.prerender';
const entryFile = /^prerender-entry\..*mjs$/;

/** An assumption about Astro that no longer holds. */
export class AstroMoved extends Error {
  override readonly name = 'AstroMoved';

  constructor(assumption: string) {
    super(`Astro has moved ${assumption}: see src/site/astro-inside.ts, and bundle with the version before until then`);
  }
}

/** The file to import, among those of a bundle. @throws AstroMoved if there is none */
export const findEntry = (files: readonly string[]): string => {
  const name = files.find((file) => entryFile.test(file));
  if (name === undefined) throw new AstroMoved('the entry of the bundle that renders pages');
  return name;
};

/**
 * Has Astro bundle the pages and leave the bundle in the folder `server` instead of rendering them.
 *
 * @param folder where Astro's output goes, in its folder `client`
 * @param root the folder that Astro is given as the project's
 * @param runtime what the compiled pages call
 * @returns the integration, and what is to be called once Astro is done. @throws AstroMoved there
 */
export const keepPageBundle = (
  folder: string,
  root: string,
  runtime: 'own' | 'astro' = 'own',
): { readonly integration: AstroIntegration; readonly assertKept: () => void } => {
  let configured = false;
  let kept = false;
  let isCalled = false;
  const integration: AstroIntegration = {
    name: 'debdex-pages',
    hooks: {
      'astro:config:setup': ({ updateConfig }) => {
        const options = {
          resolve: { noExternal: true as const },
          // Not for browsers, for which private fields and the like would be compiled to slow calls.
          build: { target: 'esnext', rolldownOptions: { input: path.join(root, entry) } },
        };
        const configEnvironment = (name: string) => {
          if (name !== environmentName) return undefined;
          configured = true;
          return options;
        };
        const resolveRuntime = (name: string): string | undefined => {
          if (name !== runtimeName) return undefined;
          isCalled = true;
          return runtime === 'own' ? path.join(root, ownRuntime) : undefined;
        };
        updateConfig({
          vite: {
            // Its usual place is below node_modules, which may be read-only and is shared with other builds.
            cacheDir: path.join(folder, 'cache', 'vite'),
            plugins: [{ name: 'pages-entry', enforce: 'pre', configEnvironment, resolveId: resolveRuntime }],
          },
        });
      },
      'astro:config:done': ({ setAdapter }) =>
        setAdapter({
          name: 'debdex-pages',
          entrypointResolution: 'auto',
          adapterFeatures: { buildOutput: 'static' },
          supportedAstroFeatures: {
            staticOutput: 'stable',
            hybridOutput: 'stable',
            serverOutput: 'stable',
            sharpImageService: 'stable',
          },
        }),
      'astro:build:start': ({ setPrerenderer }) =>
        setPrerenderer({
          name: 'debdex-pages',
          // Astro removes its bundle at the end, so it is copied before.
          setup: async () => {
            try {
              renameSync(path.join(folder, 'client', bundleFolder), path.join(folder, 'server'));
            } catch {
              throw new AstroMoved('the folder of the bundle that renders pages');
            }
            kept = true;
          },
          getStaticPaths: async () => [],
          render: async () => new Response(),
        }),
    },
  };
  const assertKept = () => {
    if (!configured) throw new AstroMoved('the Vite environment that it bundles pages in');
    if (!isCalled) throw new AstroMoved('the runtime that compiled pages call');
    if (!kept) throw new AstroMoved('the point at which an adapter takes over the rendering of pages');
  };
  return { integration, assertKept };
};
