import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { isUrl } from '../clients/decoding.ts';
import { type Asked, makeQuestions, runEveryClient } from '../clients/every-client.ts';
import { readPublished } from '../clients/published-records.ts';
import { buildFrom, hasCorpus, startCorpus } from '../support/corpus.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';
import { openWire } from '../support/wire.ts';

// What generated repositories cannot show: that programs decode what real ones say.
describe.skipIf(!hasCorpus)('programs that call this API, over real repositories', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-corpus-clients-'));
  const [state, out] = [path.join(folder, 'state'), path.join(folder, 'dist')];
  let server: TestServer;
  let wire: ReturnType<typeof openWire>;
  let asked: Asked;
  beforeAll(async () => {
    const origin = await startCorpus(folder);
    const { status, stderr } = buildFrom(origin.manifest, { state, out });
    origin.stop();
    if (status !== 0) throw new Error(stderr);
    server = await startTestServer({
      published: {
        folder: out,
        state,
        write: () => undefined,
        remove: () => rmSync(folder, { recursive: true, force: true }),
      },
      overrides: { search: new CatalogFiles(state), publicAddress: () => 'http://localhost:8080' },
    });
    wire = openWire(server.port);
    asked = readPublished(out);
  });
  afterAll(async () => {
    wire?.close();
    await server?.close();
  });

  it('decode every answer, over at least 200 questions', async () => {
    const questions = makeQuestions(asked).length;
    expect(questions).toBeGreaterThanOrEqual(200);
    const decoded = await runEveryClient(wire, asked);
    process.stdout.write(`${questions} questions, ${decoded} answers decoded, ${asked.packages.length} records\n`);
    expect(server.faults).toEqual([]);
  });

  it('get addresses alone that RFC 3986 allows, in every record', () => {
    const refused = asked.packages.flatMap(({ icon_url, header_url, native_depiction, refs, repository }) =>
      [icon_url, header_url, native_depiction ?? icon_url, refs.meta, refs.repo, repository.uri].filter(
        (each) => !isUrl(each),
      ),
    );
    const endpoints = asked.repositories.map(({ partner_endpoint, uri }) => partner_endpoint ?? uri);
    expect([...refused, ...endpoints.filter((each) => !isUrl(each))]).toEqual([]);
  });
});
