import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeFolder } from '../disk/make-folder.ts';
import { type HostRules, RulesImpossible } from './host-rules.ts';
import { type HostName, hosts } from './hosts.ts';
import { readPublication } from './publication.ts';

/** Which rules to write, and where. */
export interface RuleOrder {
  readonly host: HostName;
  /** The folder of the publication. */
  readonly publication: string;
  /** The folder of the rules, which contains nothing else. */
  readonly out: string;
  readonly functionUrl?: string | undefined;
  readonly now: Date;
}

const list = (folder: string): string[] => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (code !== 'ENOTDIR') throw error;
    throw new RulesImpossible(`${folder} is no folder, or lies below a file: name another --out.`);
  }
};

/**
 * Writes the rules of a host into a folder of their own, each file whole. Throws RulesImpossible if there is no
 * publication, or the folder contains anything else.
 */
export const writeRules = ({ host, publication, out, functionUrl, now }: RuleOrder): HostRules => {
  const rules = hosts[host]({ ...readPublication(publication), functionUrl, now });
  const known = new Set(Object.keys(rules.files).map((file) => path.normalize(file)));
  const strange = list(out).filter((file) => !known.has(file) && !file.endsWith('.new'));
  if (strange.length > 0) {
    throw new RulesImpossible(
      `${out} holds ${strange[0]}, which is none of the rules for ${host}: name another --out, or remove that folder where this command made it.`,
    );
  }
  for (const [file, text] of Object.entries(rules.files)) {
    const target = path.join(out, file);
    makeFolder(path.dirname(target));
    const next = `${target}.new`;
    rmSync(next, { force: true });
    writeFileSync(next, text);
    renameSync(next, target);
  }
  return rules;
};
