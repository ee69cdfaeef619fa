import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createApp } from '../../functions/app.ts';
import { createDocuments } from '../../functions/node/documents.ts';
import { createDownloads } from '../../functions/node/downloads.ts';
import { downloadsExample } from '../../src/contract/openapi.ts';
import { type ParameterName, parameterDescriptions } from '../../src/contract/openapi-parameters.ts';
import { type Operation, type OperationName, operations } from '../../src/contract/paths.ts';
import { CatalogSearch } from '../../src/search/search.ts';
import { runBuild } from '../pipeline.ts';
import { Progress } from '../progress.ts';
import { readSafetyList, safetyFile } from '../read-safety-list.ts';
import { readService } from '../read-service.ts';
import { publishSample } from '../sample.ts';
import { examplesAddress } from './examples.ts';

// The same clock and version always, so that the same sample gives the same examples.
const now = () => new Date('2026-05-01T12:00:00.000Z');
const version = '1.0.0';

const exampleOf = (name: string): string => {
  const description = parameterDescriptions[name as ParameterName];
  return 'example' in description ? String(description.example) : '';
};

/** The address that asks an operation with the example of each of its parameters. */
const addressOf = ({ address, query }: Operation): string => {
  const given = Object.keys(query?.shape ?? {}).filter((name) => exampleOf(name) !== '');
  const search = new URLSearchParams(Object.fromEntries(given.map((name) => [name, exampleOf(name)])));
  const path = address.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(exampleOf(name)));
  return `${examplesAddress}/v2${path}${given.length > 0 ? `?${search}` : ''}`;
};

const ask = async (app: ReturnType<typeof createApp>, operation: Operation): Promise<unknown> => {
  const init =
    operation.body === undefined
      ? {}
      : { method: 'POST', body: JSON.stringify(downloadsExample), headers: { 'Content-Type': 'application/json' } };
  const answer = await app.request(addressOf(operation), init);
  if (answer.status !== 200) throw new Error(`${operation.address} answers ${answer.status}`);
  return answer.json();
};

/** Builds the bundled sample, has the app answer every operation that answers records, and returns what it answered. */
export const collectExamples = async (): Promise<Partial<Record<OperationName, unknown>>> => {
  const root = mkdtempSync(path.join(tmpdir(), 'debdex-examples-'));
  const [out, state] = [path.join(root, 'dist'), path.join(root, 'state')];
  mkdirSync(state);
  const search = new CatalogSearch(state);
  const downloads = createDownloads(path.join(state, 'downloads.sqlite'), now);
  try {
    const { entries, fetcher } = await publishSample(out, examplesAddress);
    const service = readService();
    const progress = new Progress();
    await runBuild({
      entries,
      fetcher,
      state,
      out,
      base: examplesAddress,
      service,
      version,
      now,
      progress,
      site: false,
      source: 'sample',
    });
    await fetcher.close();
    const app = createApp({
      documents: createDocuments({ folder: out, memory: 2 ** 20 }),
      search,
      safety: readSafetyList(safetyFile),
      downloads,
      limiter: { take: () => 0 },
      probeCredentials: async () => true,
      now,
      publicAddress: () => examplesAddress,
      report: (error) => process.stderr.write(`${error}\n`),
    });
    const examples: Partial<Record<OperationName, unknown>> = {};
    for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][]) {
      if (operation.schema !== undefined) examples[name] = await ask(app, operation);
    }
    return examples;
  } finally {
    search.close();
    await downloads.close();
    rmSync(root, { recursive: true, force: true });
  }
};
