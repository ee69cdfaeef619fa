import path from 'node:path';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import { composeYaml } from '../../src/contract/yaml.ts';

const schema = path.join(import.meta.dirname, '..', '..', 'data', 'schema', 'repository.json');

/** The line that tells editors which schema to use for a file in `folder`. */
const schemaLine = (folder: string): string =>
  `# yaml-language-server: $schema=${path.relative(path.resolve(folder), schema).split(path.sep).join('/')}\n`;

const withoutDefaults = ({
  slug,
  uri,
  suite,
  component,
  binary,
  ranking,
  bootstrap,
  aliases,
  key,
  headers,
}: ManifestEntry) => ({
  slug,
  uri,
  ...(suite === './' ? {} : { suite, component, binary }),
  ranking,
  ...(bootstrap ? { bootstrap } : {}),
  ...(aliases.length > 0 ? { aliases } : {}),
  ...(key === undefined ? {} : { key }),
  ...(headers === undefined ? {} : { headers }),
});

/** The text of an entry's own file in `folder`, with the line for editors and these comments at the top. */
export const composeEntryFile = (entry: ManifestEntry, folder: string, comments: readonly string[] = []): string => {
  const lines = comments.map((comment) => `# ${comment.replaceAll(/[^\P{C}]+/gu, ' ')}\n`).join('');
  return schemaLine(folder) + lines + composeYaml(withoutDefaults(entry), { folds: false });
};
