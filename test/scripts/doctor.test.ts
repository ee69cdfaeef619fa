import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findingsRecordSchema } from '../../src/contract/records.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { OriginServer } from '../support/origin-server.ts';
import { createSigner, signRepository } from '../support/signer.ts';

const script = path.join(import.meta.dirname, '..', '..', 'scripts', 'doctor.ts');
let origin: OriginServer;

beforeAll(async () => {
  origin = await OriginServer.start();
});
afterAll(() => origin.stop());

const doctor = async (...flags: string[]) => {
  const child = spawn(process.execPath, [script, '--allow-private-networks', ...flags]);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
};

describe('npm run doctor', () => {
  it('finds nothing wrong with a whole repository, and leaves nothing behind', async () => {
    const signer = await createSigner();
    origin.serve('good', await signRepository(await generateRepository(), signer));
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('debdex-doctor-'));
    const { status, stdout } = await doctor(origin.uri('good'));
    expect(stdout).toContain('can be used: 3 packages.');
    expect(stdout).toContain('nobody has named its key');
    expect(stdout).toContain(signer.fingerprint);
    expect(stdout).toContain('Nothing is wrong with it.');
    expect(status).toBe(0);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('debdex-doctor-'))).toEqual(before);
  });

  it('tells operator and owner what is wrong, and by its exit code whether that costs packages', async () => {
    origin.serve('weak', await generateRepository({ hashes: ['md5'] }));
    const weak = await doctor(origin.uri('weak'));
    expect(weak).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('[weak] Release lists weak hashes alone'),
    });
    expect(weak.stdout).toContain('To mend it: List SHA256 hashes');
    const packages = [...makePackages(1), { Package: 'com.example.broken', Version: '1' }];
    origin.serve('broken', await generateRepository({ packages }));
    expect(await doctor(origin.uri('broken'))).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('[broken] A package has no architecture'),
    });
    expect(await doctor(origin.uri('none'))).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('[broken] There is no Release'),
    });
  });

  it('prints the findings document on request', async () => {
    origin.serve('weak', await generateRepository({ hashes: [] }));
    const { stdout } = await doctor(origin.uri('weak'), '--json');
    expect(findingsRecordSchema.parse(JSON.parse(stdout)).findings).toMatchObject([{ code: 'release-without-hashes' }]);
  });

  it.each([
    [[], /needs one URL/],
    [['ftp://a.example'], /URL must begin with https/],
    [['https://a.example', '--suite', 'stable'], /--component is required/],
    [['https://a.example', 'https://b.example'], /needs one URL/],
    [['https://a.example', '--key', '/nowhere'], /--key/],
  ])('%j is bad usage', async (flags, message) => {
    expect(await doctor(...flags)).toMatchObject({ status: 2, stderr: expect.stringMatching(message) });
  });
});
