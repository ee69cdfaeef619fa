import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SignatureV4 } from '@smithy/signature-v4';
import { Pool } from 'undici';
import { listFiles } from '../../src/publication/folder-entries.ts';

// The least work that puts every file of a folder into a bucket with the libraries that an upload uses: no plan, no
// order, no comparison of digests, no retries.

const [endpoint = '', folder = '', bucket = '', concurrency = '32'] = process.argv.slice(2);
const { host, hostname } = new URL(endpoint);

class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Uint8Array | string);
  }
  update(data: Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

const signer = new SignatureV4({
  service: 's3',
  region: 'us-east-1',
  credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  sha256: Sha256,
  uriEscapePath: false,
});
const pool = new Pool(endpoint, { connections: Number(concurrency) });
const files = [...listFiles(folder)].filter((file) => !file.startsWith('.'));
const queue = files.values();
const started = performance.now();
const work = async () => {
  for (const file of queue) {
    const body = readFileSync(path.join(folder, file));
    const headers = {
      host,
      'content-type': 'application/json',
      'content-length': String(body.length),
      'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
    };
    const where = `/${bucket}/bare/${file.split('/').map(encodeURIComponent).join('/')}`;
    const request = { method: 'PUT', protocol: 'http:', hostname, path: where, query: {}, headers };
    const signed = await signer.sign(request);
    const response = await pool.request({ method: 'PUT', path: where, headers: signed.headers, body });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`${file}: ${response.statusCode}`);
  }
};
await Promise.all(Array.from({ length: Number(concurrency) }, work));
await pool.close();
process.stdout.write(`${files.length} objects in ${(performance.now() - started) / 1000} s\n`);
