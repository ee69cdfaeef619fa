import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { documentPath } from '../../src/contract/paths.ts';
import type { PackageRecord, RepositoryRecord } from '../../src/contract/records.ts';
import type { Asked } from './every-client.ts';

/** Every record that an output folder holds, from its documents. */
export const readPublished = (folder: string): Asked => {
  const read = (file: string) => JSON.parse(readFileSync(path.join(folder, file), 'utf8')).data;
  const repositories = read(documentPath.ranking('*')) as RepositoryRecord[];
  const below = path.dirname(documentPath.package('a'));
  const files = readdirSync(path.join(folder, below), { recursive: true, encoding: 'utf8' });
  const packages = files
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => read(path.join(below, file)) as PackageRecord[]);
  return { packages, repositories };
};
