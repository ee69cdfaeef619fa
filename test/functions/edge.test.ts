import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readEdgePublication, wranglerSettings } from '../../scripts/bundling/cloudflare-settings.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { createSigner } from '../../src/publication/signature.ts';
import { packages, type SourceRepository } from '../support/catalog.ts';
import { countSchemas } from '../support/count-schemas.ts';
import { publishOnLoopback, startEdge } from '../support/edge.ts';
import { startCountedTaking } from '../support/edge-costs.ts';
import { type EdgeBundle, makeEdgeBundle } from '../support/edge-runtime.ts';
import { changeObjects } from '../support/edge-storage.ts';
import { temporaryFolder } from '../support/folder.ts';
import { patience } from '../support/patience.ts';
import { privateKey, publicKey } from '../support/publication.ts';
import { findWrangler, noWrangler, rehearseDeployment } from '../support/wrangler.ts';

let bundle: EdgeBundle;
beforeAll(async () => {
  bundle = await makeEdgeBundle();
  return () => rmSync(path.dirname(bundle.folder), { recursive: true });
});

const repository = (text: string, count = 3): SourceRepository => ({
  slug: 'one',
  aliases: ['former'],
  packages: packages(
    ...Array.from({ length: count }, (_, index) => ({ Package: `com.example.p${index}`, Description: text })),
  ),
});

describe('the function at the edge', () => {
  it('E1: is one small module of web standards, and its configuration binds what it reads', () => {
    expect(bundle.compressed).toBeLessThan(90_000);
    expect(bundle.modules).toEqual(['worker.js']);
    const text = readFileSync(path.join(bundle.folder, 'worker.js'), 'utf8');
    expect([...text.matchAll(/\bimport\s*(?:[\w{},*\s$]+from\s*)?["']([^"']+)["']/g)].map(([, name]) => name)).toEqual([
      'cloudflare:workers',
    ]);
    expect(readdirSync(bundle.folder).sort()).toEqual(['LICENSE', 'LICENSES', 'worker.js', 'wrangler.jsonc']);
    expect(readFileSync(path.join(bundle.folder, 'LICENSES'), 'utf8')).toMatch(/^hono .*^jose .*^zod /ms);
    const settings = readFileSync('functions/cloudflare/settings.ts', 'utf8');
    const bound = new Set([...settings.matchAll(/^ {2}readonly ([A-Z_]+)\??:/gm)].map(([, name]) => name));
    const named = (where: string): string[] => {
      const publication = readEdgePublication(where);
      if (publication === undefined) throw new Error(where);
      const written = wranglerSettings(
        { publication, publicKey: 'key', name: 'debdex', gateway: { kind: 'off' } },
        '/a/b',
      );
      const { durable_objects, migrations, main, vars, ...rest } = JSON.parse(written.replace(/^\/\/.*\n/, ''));
      expect(main).toBe('worker.js');
      // Which have the address of every visitor.
      expect(rest.observability.logs.invocation_logs).toBe(false);
      const classes = durable_objects.bindings.map(({ class_name: one }: { class_name: string }) => one);
      expect(migrations.flatMap(({ new_sqlite_classes: each }: { new_sqlite_classes: string[] }) => each)).toEqual(
        classes,
      );
      for (const one of classes) expect(text).toMatch(new RegExp(`export\\s*\\{[^}]*\\b${one}\\b`));
      return [
        ...durable_objects.bindings.map(({ name }: { name: string }) => name),
        ...(rest.assets ? [rest.assets.binding] : []),
        ...(rest.r2_buckets ?? []).map(({ binding }: { binding: string }) => binding),
        ...Object.keys(vars),
      ];
    };
    const all = ['/a/dist', 'r2://bucket/v/', 'https://index.example/x/'].flatMap(named);
    // A secret, which stands in no file.
    expect(new Set([...all, 'OPERATOR_KEY'])).toEqual(bound);
    expect(readEdgePublication('r2://bucket/v/')).toEqual({ kind: 'bucket', bucket: 'bucket', prefix: 'v' });
    for (const none of ['r2://Bucket', 'ftp://a', 'https://a:b@c/', 'https://a/?b']) {
      expect(readEdgePublication(none), none).toBeUndefined();
    }
  });

  it('E1: the tool of the platform takes its configuration, wherever the publication is', async ({ skip }) => {
    const wrangler = findWrangler();
    if (wrangler === undefined) return skip(noWrangler);
    const assets = temporaryFolder();
    writeFileSync(path.join(assets, 'index.html'), '<p>front');
    const bound = {
      [assets]: 'env.ASSETS',
      'r2://bucket/v': 'env.BUCKET (bucket)',
      'https://a.example': 'env.PUBLICATION',
    };
    for (const [where, name] of Object.entries(bound)) {
      const publication = readEdgePublication(where);
      if (publication === undefined) throw new Error(where);
      const folder = path.join(temporaryFolder(), 'cloudflare');
      cpSync(bundle.folder, folder, { recursive: true });
      const settings = wranglerSettings(
        { publication, publicKey: 'key', name: 'debdex', gateway: { kind: 'off' } },
        folder,
      );
      writeFileSync(path.join(folder, 'wrangler.jsonc'), settings);
      const said = await rehearseDeployment(wrangler, folder);
      for (const bound of [name, 'env.CATALOG (CatalogObject)', 'env.DOWNLOADS (DownloadsObject)']) {
        expect(said).toContain(bound);
      }
      expect(said).not.toMatch(/warning|error|unexpected/i);
    }
  });

  it('E1: makes no schema and asks for no language when it starts, which would take most of that time', () => {
    const languages = new Proxy({}, { get: (_, name) => expect.fail(`Intl.${String(name)}`) });
    expect(countSchemas(bundle.folder, languages)).toBe(0);
  });
});

describe('an edge host that follows a publication', () => {
  const lookup = '/v2/jailbreak/package/com.example.p0';

  it('E2: goes from one generation to the next without losing a request, and takes only what differs', async () => {
    const { publication, origin } = await publishOnLoopback();
    const still: SourceRepository = {
      slug: 'still',
      packages: packages(
        ...Array.from({ length: 700 }, (_, at) => ({ Package: `org.still.p${at}`, Description: `${at} `.repeat(80) })),
      ),
    };
    await publication.publish([still, repository('before')]);
    const edge = await startEdge(bundle, { source: { address: origin.address } });
    await edge.until(1);
    const portionsAsked = () => origin.asked.filter((file) => file.endsWith('.portion'));
    const first = portionsAsked();
    expect(first.length).toBeGreaterThan(8);
    const answers: string[] = [];
    let isOver = false;
    const asking = (async () => {
      while (!isOver) {
        const [one, found] = await Promise.all([
          edge.get(lookup),
          edge.get('/v2/jailbreak/package/search?q=com.example.p0'),
        ]);
        expect([one.status, found.status]).toEqual([200, 200]);
        const texts = [await one.text(), await found.text()];
        for (const text of texts) answers.push(/"description":"(\w+)"/.exec(text)?.[1] ?? text);
        // Leaves the host most of the processor.
        await sleep(50);
      }
    })();
    for (const [number, text] of [
      [2, 'second'],
      [3, 'third'],
    ] as const) {
      await publication.publish([still, repository(text)]);
      await edge.until(number);
      await vi.waitFor(() => expect(answers.slice(-2)).toEqual([text, text]), patience);
    }
    isOver = true;
    await asking;
    expect([...new Set(answers)]).toEqual(['before', 'second', 'third']);
    // The other object had nothing at the second; at the third the first one had the first.
    const third = portionsAsked().slice(first.length * 2);
    expect(third.length).toBeGreaterThan(0);
    expect(third.length).toBeLessThan(first.length / 2);
  });

  it('E2: takes one changed package at the cost of that package, however many stay as they are', async () => {
    const measure = async (count: number) => {
      const { publication, origin } = await publishOnLoopback();
      const still: SourceRepository = {
        slug: 'still',
        packages: packages(
          ...Array.from({ length: count }, (_, at) => ({ Package: `org.still.p${at}`, Description: 'd'.repeat(5000) })),
        ),
      };
      const { take, stop } = await startCountedTaking(origin.address);
      onTestFinished(stop);
      await publication.publish([still, repository('before')]);
      const first = await take();
      origin.asked = [];
      await publication.publish([still, repository('after', 3)]);
      const next = await take();
      const files = origin.asked.filter((file) => file.endsWith('.portion')).length;
      const portions = publication.files(true).filter((file) => file.endsWith('.portion')).length;
      return { first, next, files, portions };
    };
    const [less, more] = [await measure(100), await measure(200)];
    expect(less.next.written).toBeGreaterThan(0);
    expect(more.next.written).toBeLessThan(less.next.written * 1.2);
    expect(more.next.written).toBeLessThan(more.first.written / 20);
    expect(more.files).toBeLessThan(more.portions / 2);
    expect(more.next.merged).toBe(0);
    expect(more.first.merged).toBeGreaterThan(0);
    // No portion is looked for among all of them.
    for (const { first, next, portions } of [less, more]) {
      expect(first.readOfPlaces).toBeLessThan(4 * portions);
      expect(next.readOfPlaces).toBeLessThan(4 * portions);
    }
  });

  it('E2: goes on where it was killed between two portions, and takes none of them twice', async () => {
    const { publication, origin } = await publishOnLoopback();
    await publication.publish([repository('x', 50)]);
    const storage = temporaryFolder();
    let portions = 0;
    const stuck = Promise.withResolvers<void>();
    origin.intercept = (file) => {
      if (!file.endsWith('.portion') || ++portions < 4) return undefined;
      stuck.resolve();
      return () => {};
    };
    const killed = await startEdge(bundle, { source: { address: origin.address }, storage });
    expect((await killed.get(lookup)).status).toBe(503);
    await stuck.promise;
    await killed.kill();
    const before = origin.asked.filter((file) => file.endsWith('.portion'));
    origin.intercept = undefined;
    origin.asked = [];
    const edge = await startEdge(bundle, { source: { address: origin.address }, storage });
    await edge.until(1);
    const after = origin.asked.filter((file) => file.endsWith('.portion'));
    expect(after).toContain(before[3]);
    for (const file of before.slice(0, 3)) expect(after).not.toContain(file);
    expect((await edge.get(lookup)).status).toBe(200);
    await edge.kill();
    // What it holds it answers from at once, whatever became of the publication.
    await origin.close();
    const again = await startEdge(bundle, { source: { address: origin.address }, storage });
    expect((await again.get(lookup)).status).toBe(200);
  });

  it('E2: takes all anew where another version made the tables, whether it held something whole or was killed before', async () => {
    const { publication, origin } = await publishOnLoopback();
    await publication.publish([repository('x', 50)]);
    const storage = temporaryFolder();
    const start = () => startEdge(bundle, { source: { address: origin.address }, storage });
    /** Makes of what the objects hold what another version would have left. */
    const alter = (statements: string, list = '') => {
      let altered = 0;
      changeObjects(storage, 'CatalogObject', (database) => {
        const find = "SELECT 1 FROM sqlite_master WHERE name = 'written_portion'";
        if (database.prepare(find).get() === undefined) return;
        altered++;
        database.exec(`DROP TABLE search_document; ${statements}`);
        database.prepare("INSERT INTO remembered SELECT 'list', ?1 WHERE ?1 <> '\"\"'").run(JSON.stringify(list));
      });
      expect(altered).toBe(1);
    };
    const isAnswered = async () => {
      const edge = await start();
      await expect.poll(async () => (await edge.get(lookup)).status, patience).toBe(200);
      await edge.kill();
      return origin.asked.filter((file) => file.endsWith('.portion')).length;
    };
    const all = await isAnswered();
    origin.asked = [];
    expect(await isAnswered(), 'what it holds is not taken again').toBe(0);

    alter(
      `UPDATE remembered SET value = replace(value, '"format":', '"format":9') WHERE name = 'held';
      UPDATE remembered SET value = 9 WHERE name = 'tables'`,
    );
    expect(await isAnswered(), 'held by another version').toBe(all);

    origin.asked = [];
    alter(
      `UPDATE remembered SET value = 9 WHERE name = 'tables';
      INSERT INTO remembered SELECT 'taking', json_remove(value, '$.format') FROM remembered WHERE name = 'held';
      DELETE FROM remembered WHERE name = 'held'`,
      publication
        .read(publication.current.portions?.path ?? '')
        .toString()
        .replace('"catalog_format":', '"catalog_format":9'),
    );
    const edge = await start();
    await vi.waitFor(
      () => expect(edge.lines.map(({ message }) => message).join()).toMatch(/of another version/),
      patience,
    );
    expect((await edge.get(lookup)).status).toBe(503);
    await publication.publish([repository('y', 50)]);
    await edge.until(2);
    expect(await (await edge.get(lookup)).text()).toContain('"description":"y"');
  });

  it('E2: goes on answering whatever comes late: an older order, or the word to retire for what it has itself', async () => {
    const { publication, origin } = await publishOnLoopback();
    await publication.publish([repository('first')]);
    const edge = await startEdge(bundle, { source: { address: origin.address } });
    await edge.until(1);
    const former = publication.read(generationPath.current).toString();
    await publication.publish([repository('second')]);
    await edge.until(2);
    const answers = async () => (await edge.get(lookup)).text();
    await expect.poll(answers).toContain('"description":"second"');
    // Of the two, the one that answers is the one that need not take anything.
    const now = publication.read(generationPath.current).toString();
    const order = { text: former, jws: null, list: '{}', answering: former };
    const two = await edge.object('two');
    expect(await two.take(order)).toBe(true);
    await two.retire(now);
    await two.retire(former);
    expect(await answers()).toContain('"description":"second"');
    // Where both had the same the first would stay, which this one is not.
    const list = publication.read(publication.current.portions?.path ?? '').toString();
    expect(await two.take({ text: now, jws: null, list, answering: now })).toBe(false);
    await expect.poll(answers, patience).toContain('"description":"second"');
    expect(edge.lines.filter(({ event }) => event === 'trouble')).toEqual([]);
  });

  it('E2: takes what the publication has by now, where it went on before all of the first was taken', async () => {
    const { publication, origin } = await publishOnLoopback();
    await publication.publish([repository('first', 50)]);
    const former = new Set(publication.files(true).filter((file) => file.endsWith('.portion')));
    origin.intercept = (file) => (former.has(file) ? (response) => response.writeHead(404).end() : undefined);
    const edge = await startEdge(bundle, { source: { address: origin.address } });
    expect((await edge.get(lookup)).status).toBe(503);
    await vi.waitFor(() => expect(edge.lines.map(({ event }) => event)).toContain('trouble'), patience);
    await publication.publish([repository('second', 50)]);
    for (const file of publication.files(true)) former.delete(file);
    await edge.until(2);
    expect(await (await edge.get(lookup)).text()).toContain('"description":"second"');
  });

  it('P3: refuses what is altered, older, not signed or not published as rows, says why once, and goes on with what it has', async () => {
    const { publication, origin } = await publishOnLoopback();
    const signer = await createSigner(privateKey);
    await publication.publish([repository('first')], { signer });
    const older = new Map(publication.files(true).map((file) => [file, publication.read(file)]));
    const edge = await startEdge(bundle, { source: { address: origin.address }, variables: { PUBLIC_KEY: publicKey } });
    await edge.until(1);
    const troubles = () => edge.lines.flatMap(({ event, message }) => (event === 'trouble' ? String(message) : []));
    const untilTrouble = async (pattern: RegExp) => {
      await vi.waitFor(() => expect(troubles().at(-1)).toMatch(pattern), patience);
      expect(await (await edge.get(lookup)).text()).toContain('"description":"first"');
    };
    await publication.publish([repository('second')]);
    await untilTrouble(/generation\.jws is missing: nothing was taken/);
    await publication.publish([repository('third')], { signer });
    origin.intercept = (file) => {
      if (!file.endsWith('.portion')) return undefined;
      const bytes = Buffer.from(publication.read(file));
      bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20);
      return bytes;
    };
    await untilTrouble(/\.portion is missing or has other bytes than the generation says/);
    publication.hasPortions = false;
    await publication.publish([repository('fourth')], { signer });
    origin.intercept = undefined;
    await untilTrouble(/not published as rows: publish with npm run build -- --portions/);
    publication.hasPortions = true;
    await publication.publish([repository('fifth')], { signer });
    await edge.until(5);
    expect(await (await edge.get(lookup)).text()).toContain('"description":"fifth"');
    origin.intercept = (file) => older.get(file);
    await vi.waitFor(() => expect(troubles().at(-1)).toMatch(/Generation 1 of .* is older than generation 5/), {
      timeout: 30_000,
      interval: 50,
    });
    expect(await (await edge.get(lookup)).text()).toContain('"description":"fifth"');
    expect(new Set(troubles()).size).toBe(troubles().length);
  });
});
