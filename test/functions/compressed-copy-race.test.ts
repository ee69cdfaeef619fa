import { renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, it, vi } from 'vitest';
import { createDocuments } from '../../functions/node/document-files.ts';
import { longListDocument, packageRecord, publish } from '../support/published.ts';

let beforeCopy = (): void => {};
vi.mock('node:fs/promises', async (original) => {
  const own = await original<typeof import('node:fs/promises')>();
  const stat = (...asked: Parameters<typeof own.stat>) => {
    if (String(asked[0]).endsWith('.gz')) beforeCopy();
    return own.stat(...asked);
  };
  return { ...own, stat };
});

const paths = { small: 'v2/jailbreak/package/com.a.json', large: 'v2/jailbreak/repository/large/packages.json' };

it.each(['small', 'large'] as const)(
  'H4: a copy that a build made between the look at its document and the look for it goes by no tag of the one before (%s)',
  async (size) => {
    const published = publish([]);
    const place = path.join(published.folder, paths[size]);
    const stateOf = (version: string) =>
      longListDocument(size === 'large' ? 800 : 4, packageRecord('com.a', 'a', version));
    const replace = (name: string, bytes: Uint8Array) => {
      writeFileSync(`${name}.next`, bytes);
      renameSync(`${name}.next`, name);
    };
    const build = (version: string) => {
      rmSync(`${place}.gz`, { force: true });
      published.write(paths[size], stateOf(version));
      replace(`${place}.gz`, gzipSync(stateOf(version)));
    };
    build('1.0');
    const documents = createDocuments({ folder: published.folder, memory: 2 ** 20 });
    const read = async () => {
      const document = await documents.read(paths[size], 'gzip');
      const stream = await document?.open();
      if (document === undefined || stream === undefined) return undefined;
      const sent = await buffer(stream);
      const text = (document.encoding === 'gzip' ? gunzipSync(sent) : sent).toString();
      return { tag: document.etag, version: /"version":"([^"]+)"/.exec(text)?.[1] };
    };
    beforeCopy = () => {
      beforeCopy = () => {};
      build('2.0');
    };
    const meanwhile = await read();
    const after = await read();
    expect(after?.version).toBe('2.0');
    // What could not be opened any more is described anew.
    if (meanwhile?.version === '2.0') expect(meanwhile).toEqual(after);
    else if (meanwhile !== undefined) expect(meanwhile.tag).not.toBe(after?.tag);
  },
);
