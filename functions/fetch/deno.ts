import process from 'node:process';
import { openFetchHandler } from './handler.ts';
import { readFetchSettings } from './settings.ts';

const handler = openFetchHandler(readFetchSettings(process.env));

/** What Deno says of a connection (docs.deno.com, "deno serve"). */
interface ServeInfo {
  readonly remoteAddr: { readonly hostname?: string };
}

/** The function for `deno serve`. */
export default {
  fetch: (request: Request, { remoteAddr }: ServeInfo): Promise<Response> =>
    handler.fetch(request, remoteAddr.hostname ?? ''),
};
