import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { expect } from 'vitest';
import { digestPieces } from '../../src/catalog/pieces.ts';
import {
  type ChangeList,
  changeListSchema,
  type Generation,
  generationPath,
  generationSchema,
  tellsOfGenerations,
} from '../../src/contract/generation.ts';
import { listFiles } from '../../src/publication/folder-entries.ts';
import { type GenerationInput, publishGeneration } from '../../src/publication/generation.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { temporaryFolder } from './folder.ts';
import { readInventoryOf } from './inventory.ts';

const keys = generateKeyPairSync('ed25519');
/** A private key for signatures, as PEM, and its public key. */
export const privateKey = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
/** Another private key. */
export const otherPrivateKey = generateKeyPairSync('ed25519')
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
export const publicKey = keys.publicKey.export({ format: 'jwk' }).x ?? '';

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Files by path, as they are to be published. */
export type Files = Readonly<Record<string, string>>;

/** A publication with hand-written files. */
export class Publication {
  readonly folder = temporaryFolder();
  readonly out = path.join(this.folder, 'out');
  readonly state = path.join(this.folder, 'state');
  readonly output = new OutputFolder(this.out);
  #files: Files = {};
  #day = 0;

  /** Publishes these files as a generation, with a catalog that matches. */
  async publish(files: Files, options: Partial<GenerationInput> = {}) {
    const { output = this.output } = options;
    const before = this.#files;
    const touched = new Set(Object.keys(files).filter((name) => files[name] !== before[name]));
    for (const name of touched) output.write(name, files[name] ?? '');
    this.#files = files;
    const text = JSON.stringify(files);
    mkdirSync(this.state, { recursive: true });
    const file = path.join(this.state, 'catalog');
    writeFileSync(file, text);
    const published = await publishGeneration({
      output,
      state: this.state,
      now: new Date(Date.UTC(2026, 0, ++this.#day)),
      catalog: { file, ...(await digestPieces(file)) },
      paths: Object.keys(files),
      isTouched: (name) => touched.has(name),
      packages: [],
      ...options,
    });
    for (const name of Object.keys(before)) if (!(name in files)) rmSync(output.resolve(name), { force: true });
    return published;
  }

  read(file: string): string {
    return readFileSync(path.join(this.out, file), 'utf8');
  }

  get current(): Generation {
    return generationSchema.parse(JSON.parse(this.read(generationPath.current)));
  }

  changes(number: number): ChangeList {
    return changeListSchema.parse(JSON.parse(this.read(generationPath.changes(number))));
  }

  /** All published files except those about generations. */
  files(): Files {
    return Publication.filesIn(this.out);
  }

  static filesIn(folder: string): Files {
    const names = [...listFiles(folder)].filter((name) => !tellsOfGenerations(name) && !name.startsWith('.'));
    return Object.fromEntries(names.sort().map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]));
  }

  /** Expects that `generation.json` describes exactly these files, and that its catalog and change list exist. */
  expectWhole(files: Files): void {
    const { documents, catalog, changes } = this.current;
    const lines = Object.keys(files)
      .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
      .map((name) => `${sha256(files[name] ?? '')}  ${name}\n`);
    expect(documents).toMatchObject({ count: lines.length, digest: sha256(lines.join('')) });
    const told = readInventoryOf(this.out, documents);
    expect([...told].map(([name, digest]) => `${digest}  ${name}\n`).join('')).toBe(lines.join(''));
    const compressed = readFileSync(path.join(this.out, catalog.path));
    const plain = zstdDecompressSync(compressed);
    expect([sha256(plain), plain.length, compressed.length]).toEqual([
      catalog.sha256,
      catalog.size,
      catalog.compressed_size,
    ]);
    expect(existsSync(path.join(this.out, changes))).toBe(true);
  }
}
