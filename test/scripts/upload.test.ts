import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { toCommandFailure } from '../../scripts/upload-end.ts';
import { BucketDestination } from '../../src/uploading/bucket-destination.ts';
import { retiredName } from '../../src/uploading/record.ts';
import { DestinationBusy, UploadError } from '../../src/uploading/upload-error.ts';
import { temporaryFolder } from '../support/folder.ts';
import { ObjectStoreServer, storeCredentials } from '../support/object-store.ts';
import { patience } from '../support/patience.ts';
import { Publication } from '../support/publication.ts';
import { runScript } from '../support/run-script.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'debdex-upload-'));
let server: ObjectStoreServer;
beforeAll(async () => {
  server = await ObjectStoreServer.start(folder);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const publish = async (): Promise<Publication> => {
  const publication = new Publication();
  await publication.publish({ 'v2/index.json': 'landing', 'v2/jailbreak/package/a.json': 'a' });
  return publication;
};

describe('npm run upload', () => {
  it('P1: rehearses, sends, and says what it did', async () => {
    const { out } = await publish();
    const to = path.join(temporaryFolder(), 'to');
    const rehearsed = await runScript('upload', [to, '--out', out, '--dry-run']);
    expect(rehearsed).toMatchObject({
      status: 0,
      out: expect.stringMatching(/would hold generation 1 .* 5 objects would be sent/),
    });
    const sent = await runScript('upload', [to, '--out', out]);
    expect(sent).toMatchObject({
      status: 0,
      out: expect.stringMatching(/holds generation 1 of .*: 5 objects sent \(.* MB\); 0 removed/),
    });
    expect((await runScript('upload', [to, '--out', out])).out).toContain('0 objects sent');
  });

  // Before anybody has changed one: what stands there already is not written again.
  it('P1: changes no rule of a bucket in a rehearsal, and sends files alone where it is told to', async () => {
    const { out } = await publish();
    const flags = ['s3://publications/files', '--out', out, '--endpoint', server.endpoint, '--files-only'];
    const send = (...more: string[]) => runScript('upload', [...flags, ...more], { environment: storeCredentials });
    server.take('PUT');
    expect(await send('--cors', '--dry-run')).toMatchObject({ status: 0, out: expect.stringContaining('would hold') });
    expect(server.requests.filter(({ method }) => !['GET', 'HEAD'].includes(method))).toEqual([]);
    expect((await send()).status).toBe(0);
    const statusOf = async (name: string) => (await fetch(`${server.base}/files/v2/jailbreak/package/${name}`)).status;
    expect([await statusOf('a.json'), await statusOf('a')]).toEqual([200, 404]);
  });

  it('P1: sends as many files at once as it is told to, where that is more than usual too', async () => {
    const publication = new Publication();
    const names = Array.from({ length: 50 }, (_, index) => `v2/jailbreak/package/${index}.json`);
    await publication.publish(Object.fromEntries(['v2/index.json', ...names].map((name) => [name, name])));
    let under = 0;
    const held = Promise.withResolvers<void>();
    server.delay = ({ method, key }) => {
      if (method !== 'PUT' || !/package\/\d+/.test(key)) return undefined;
      under++;
      return held.promise;
    };
    const flags = ['s3://publications/many', '--out', publication.out, '--endpoint', server.endpoint];
    const sent = runScript('upload', [...flags, '--concurrency', '40'], { environment: storeCredentials });
    try {
      await expect.poll(() => under, patience).toBe(40);
    } finally {
      held.resolve();
      await sent;
      server.delay = undefined;
    }
    expect((await sent).status).toBe(0);
  });

  it('P1: sends to object storage by the variables of the AWS tools', async () => {
    const { out } = await publish();
    const environment = { ...storeCredentials, AWS_ENDPOINT_URL_S3: server.endpoint };
    const sent = await runScript('upload', ['s3://publications/site', '--out', out, '--cors'], { environment });
    expect(sent).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^s3:\/\/publications\/site holds generation 1/),
    });
    const lookup = await fetch(`${server.base}/site/v2/jailbreak/package/a`, {
      headers: { origin: 'https://x.example' },
    });
    expect(await lookup.text()).toBe('a');
    expect(lookup.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('P1: keeps what is gone as long as it is told to, looks at every file, and replaces what is newer, on a word alone', async () => {
    const publication = await publish();
    const older = await publish();
    const to = path.join(temporaryFolder(), 'to');
    const send = ({ out }: Publication, ...flags: string[]) => runScript('upload', [to, '--out', out, ...flags]);
    await send(publication);
    await publication.publish({ 'v2/index.json': 'landing' });
    expect((await send(publication)).out).toMatch(/; 0 removed; \d+ no longer published and kept/);
    // As if that had been an hour ago.
    const noted = path.join(to, retiredName);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    writeFileSync(noted, readFileSync(noted, 'utf8').replaceAll(/"\d{4}-[^"]+Z"/g, JSON.stringify(since)));
    for (const flags of [[], ['--keep-removed', '2h']]) {
      expect((await send(publication, ...flags)).out).toMatch(/ 0 removed; \d+ no longer published/);
    }
    expect((await send(publication, '--keep-removed', '30m')).out).toMatch(/ [1-9]\d* removed\./);
    const landing = path.join(to, 'v2', 'index.json');
    writeFileSync(landing, 'damaged');
    expect((await send(publication)).out).toContain(' 0 objects sent');
    expect((await send(publication, '--verify')).out).toContain(' 1 object sent');
    expect(readFileSync(landing, 'utf8')).toBe('landing');
    expect(await send(older)).toMatchObject({ status: 1, error: expect.stringContaining('upload with --force') });
    expect((await send(older, '--force')).status).toBe(0);
  });

  it('P1: closes what it has opened, also where it fails, so that no request goes on for nobody', async () => {
    const { out } = await publish();
    const close = vi.spyOn(BucketDestination.prototype, 'close');
    onTestFinished(() => close.mockRestore());
    for (const [source, status] of [
      [out, 0],
      [temporaryFolder(), 1],
    ] as const) {
      const flags = ['s3://publications/closed', '--out', source, '--endpoint', server.endpoint];
      expect((await runScript('upload', flags, { environment: storeCredentials })).status).toBe(status);
    }
    expect(close).toHaveBeenCalledTimes(2);
  });

  it('tells that another is under way, which a scheduler may wait for, from what it could not do', () => {
    expect(toCommandFailure(new DestinationBusy('busy'))).toMatchObject({ message: 'busy', exitCode: 7 });
    expect(toCommandFailure(new UploadError('away'))).toMatchObject({ message: 'away', exitCode: 1 });
  });

  it.each([
    [[], 2, /upload needs one DESTINATION/],
    [['a', 'b'], 2, /needs one DESTINATION/],
    [[''], 2, /DESTINATION must not be empty/],
    [['~/to'], 2, /DESTINATION must be a path without ~/],
    [['s3://x'], 2, /must be a folder or s3:\/\/[\s\S]*--help/],
    [['s3://publications/x'], 1, /There are no credentials/],
    [['s3://publications/x', '--endpoint', 'foo'], 2, /--endpoint must be an http or https address/],
    [['to', '--cors'], 2, /--cors is of a bucket, s3:\/\/bucket\/prefix, and "to" is none/],
    [['to', '--region=x'], 2, /--region is of a bucket/],
    [['to', '--keep-removed', 'soon'], 2, /--keep-removed must be a time/],
    [['to', '--out', '/nowhere'], 1, /holds no publication/],
  ])('refuses %j and says what to do', async (args, status, message) => {
    const environment = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' };
    expect(await runScript('upload', args, { environment })).toMatchObject({
      status,
      error: expect.stringMatching(message),
    });
  });
});
