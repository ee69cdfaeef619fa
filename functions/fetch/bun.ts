import http from 'node:http';
import process from 'node:process';
import { limitTable } from '../node/limits.ts';
import { openFetchHandler } from './handler.ts';
import { readFetchSettings } from './settings.ts';

// Bun refuses heads above 16 KB unless it is told here, and a long multi lookup has 64 KB of address. Elsewhere it is read only.
(http as { maxHeaderSize: number }).maxHeaderSize = limitTable.requestLine.value + limitTable.headers.value;

const handler = openFetchHandler(readFetchSettings(process.env));

/** What Bun says of a connection (bun.com/docs, "Server"). */
interface BunServer {
  requestIP(request: Request): { readonly address: string } | null;
}

/** The function for `bun`, which serves what a module exports so. */
export default {
  port: Number(process.env.DEBDEX_PORT || 8080),
  hostname: process.env.DEBDEX_HOST || '127.0.0.1',
  // Bun's own error pages would show internals.
  development: false,
  fetch: (request: Request, server: BunServer): Promise<Response> =>
    handler.fetch(request, server.requestIP(request)?.address ?? ''),
};
