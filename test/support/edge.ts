import { onTestFinished, vi } from 'vitest';
import { BuiltPublication, FileOrigin } from './built-publication.ts';
import { type EdgeBundle, type EdgeRuntime, type EdgeRuntimeOptions, runEdge } from './edge-runtime.ts';
import { temporaryFolder } from './folder.ts';
import { patience } from './patience.ts';

/** A Worker under test. */
export interface EdgeServer extends EdgeRuntime {
  get(target: string, headers?: Record<string, string>): Promise<Response>;
  /** Resolves when it answers from the generation with this number. */
  until(number: number): Promise<void>;
}

/** An empty publication for a Worker to follow, on a server that ends with the test. */
export const publishOnLoopback = async () => {
  const publication = new BuiltPublication();
  publication.hasPortions = true;
  const origin = await new FileOrigin(publication.folder).open();
  onTestFinished(() => origin.close().catch(() => {}));
  return { publication, origin };
};

/** Starts a bundled Worker, which ends with the test. */
export const startEdge = async (
  bundle: EdgeBundle,
  options: Omit<EdgeRuntimeOptions, 'storage'> & Partial<Pick<EdgeRuntimeOptions, 'storage'>>,
): Promise<EdgeServer> => {
  const runtime = await runEdge(bundle, { storage: temporaryFolder(), ...options });
  onTestFinished(runtime.kill);
  const get: EdgeServer['get'] = (target, headers = {}) =>
    fetch(runtime.address + target, { headers: { 'accept-encoding': 'identity', ...headers }, redirect: 'manual' });
  return {
    ...runtime,
    get,
    until: async (number) => {
      // A Worker only begins to follow when it gets a request.
      await (await get('/livez')).body?.cancel();
      await vi.waitFor(() => {
        const taken = runtime.taken();
        const last = JSON.stringify(runtime.lines.slice(-3));
        if (taken !== number) throw new Error(`generation ${taken} is in force: ${last}`);
      }, patience);
    },
  };
};
