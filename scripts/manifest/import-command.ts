import { existsSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import { sayUnreadable } from '../../src/contract/mistakes.ts';
import { readYaml } from '../../src/contract/yaml.ts';
import { ManifestError, readManifest } from '../../src/crawl/read-manifest.ts';
import { createSafetyList } from '../../src/safety/safety-list.ts';
import { buildOptions } from '../build-options.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Command, CommandFailure, type OptionValues, runCommand, UsageError } from '../options.ts';
import { dataOption, manifestOf, readUnsafe } from '../read-service.ts';
import { composeEntryFile } from './entry-file.ts';
import { type ImportPlan, planImport } from './import-list.ts';

const command = {
  name: 'manifest',
  action: 'import',
  summary:
    'Adds the entries of another list (JSON or YAML) to the manifest: writes a file for each valid new one, and prints which are there already and which are not valid. Overwrites nothing.',
  operand: 'FILE',
  options: {
    manifest: {
      ...buildOptions.manifest,
      value: 'DIR',
      help: 'Folder of entries. Without it: repositories/ in --data.',
    },
    data: dataOption,
    source: {
      type: 'string',
      value: 'TEXT',
      environment: 'DEBDEX_IMPORT_SOURCE',
      help: 'Where the list comes from, for a comment in each new file.',
    },
    'dry-run': { ...buildOptions['dry-run'], help: 'Print what would be done, and write nothing.' },
  },
  endings: [
    [exitCodes.done, 'every entry of the list is in the manifest now'],
    [exitCodes.nothingUsable, 'some entries are not valid and were left out; the others were added'],
    [exitCodes.usage, 'bad usage: a flag, the list, or the manifest as it is'],
  ],
} as const satisfies Command;

const longestList = 16 << 20;

/** The entries of a list: an array, or a single entry. */
const readList = async (file: string): Promise<unknown[]> => {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new UsageError(`${file} ${sayUnreadable(error) ?? `cannot be read: ${error.message}`}`);
  });
  if (bytes.length > longestList)
    throw new UsageError(`${file} is ${bytes.length} bytes long, and a list has at most ${longestList}`);
  let value: unknown;
  try {
    // JSON is YAML, and this reader, unlike JSON.parse, refuses a repeated field.
    value = readYaml(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new UsageError(`${file} ${sayUnreadable(error) ?? `is neither JSON nor YAML: ${(error as Error).message}`}`);
  }
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0 || list.every((entry) => typeof entry !== 'object' || entry === null))
    throw new UsageError(`${file} holds no list of entries: each has a slug, a uri and a ranking`);
  return list;
};

/** The present manifest. An empty folder is one without entries. */
const readKnown = async (folder: string): Promise<ManifestEntry[]> => {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new UsageError(`${folder} is no folder: entries are imported as a file each`);
  return readManifest(folder).catch((error: unknown) => {
    if (error instanceof ManifestError && error.isEmpty) return [];
    throw error instanceof ManifestError ? new UsageError(error.message) : error;
  });
};

const describe = ({ taken, present, refused }: ImportPlan, { isDry }: { isDry: boolean }): string => {
  const lines: string[] = [];
  for (const { entry, left } of taken) {
    const aliases = entry.aliases.length > 0 ? ` (also ${entry.aliases.join(', ')})` : '';
    lines.push(`new      ${entry.slug}${aliases}`, ...left.map((what) => `         left out: ${what}`));
  }
  for (const { slug, as, missing } of present) {
    const unknown = missing.length > 0 ? `; write into its aliases: ${missing.join(', ')}` : '';
    if (slug !== as || unknown !== '') lines.push(`present  ${slug} is there as ${as}${unknown}`);
  }
  for (const { place, reasons } of refused)
    lines.push(`unsound  ${place}`, ...reasons.map((reason) => `         ${reason}`));
  const counts = `${taken.length} new, ${present.length} there already, ${refused.length} not sound`;
  lines.push(`${counts}.${isDry ? ' Nothing was written (--dry-run).' : ''}`);
  // Text from strangers must not control the terminal.
  return lines.map((line) => `${line.replaceAll(/[\p{Control}\p{Format}]/gu, '?')}\n`).join('');
};

/**
 * Writes a file for each new entry, below `folder`. Throws a CommandFailure if one of them exists by now, because a
 * file that somebody wrote is never replaced.
 */
export const writeTaken = ({ taken }: Pick<ImportPlan, 'taken'>, folder: string, source: string | undefined): void => {
  for (const { entry, left } of taken) {
    const comments = [
      ...(source === undefined ? [] : [`From ${source}.`]),
      ...(left.length > 0 ? [`Left out: ${left.join('; ')}.`] : []),
    ];
    const file = path.join(folder, `${entry.slug}.yaml`);
    try {
      writeFileSync(file, composeEntryFile(entry, folder, comments), { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new CommandFailure(`${file} came into being meanwhile and is left as it is; import again.`);
    }
  }
};

const run = async (values: OptionValues<typeof command.options>, file: string): Promise<void> => {
  const folder = manifestOf(values);
  const known = await readKnown(folder);
  const plan = await planImport(known, await readList(file), createSafetyList(readUnsafe(values.data)));
  if (!values['dry-run']) writeTaken(plan, folder, values.source);
  process.stdout.write(describe(plan, { isDry: values['dry-run'] }));
  if (plan.refused.length > 0) process.exitCode = exitCodes.nothingUsable;
};

/** `npm run manifest -- import FILE`. */
export const importList = {
  summary: command.summary,
  run: () => runCommand(command, run),
};
