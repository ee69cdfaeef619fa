import type { BuildResult } from './pipeline.ts';
import type { Progress } from './progress.ts';

const number = (value: number): string => value.toLocaleString('en');

const plural = (count: number, one: string): string => `${number(count)} ${count === 1 ? one : `${one}s`}`;

const row = (name: string, text: string): string => `${name.padEnd(14)}${text}\n`;

/** How many repositories are signed in which way, the most common first. */
const countSignatures = (outcomes: BuildResult['outcomes']): string => {
  const counts = new Map<string, number>();
  for (const { signing } of outcomes) {
    if (signing !== null) counts.set(signing.state, (counts.get(signing.state) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([state, count]) => `${number(count)} ${state}`).join(', ') || 'none read';
};

/** What a build did, for a person to read. */
export const describeBuild = (result: BuildResult, progress: Progress): string => {
  const { outcomes, statistics, documents, findings, stanzas, waiting, site } = result;
  const kinds = ['fresh', 'unchanged', 'stale', 'failed'] as const;
  const counts = kinds.map((kind) => `${number(outcomes.filter(({ outcome }) => outcome === kind).length)} ${kind}`);
  const requests = outcomes.reduce((sum, outcome) => sum + outcome.requests, 0);
  const bytes = outcomes.reduce((sum, outcome) => sum + outcome.bytes, 0);
  let text = row('Repositories', `${number(outcomes.length)}: ${counts.join(', ')}`);
  for (const { slug, outcome, reason, confirmedAt } of outcomes) {
    if (outcome !== 'stale' && outcome !== 'failed') continue;
    const age = confirmedAt === null ? '' : ` Last confirmed ${confirmedAt}.`;
    text += row('', `${outcome} ${slug}: ${reason ?? 'no reason known'}${age}`);
  }
  if (waiting.length > 0) text += row('Held back', 'npm run accept -- SLUG takes it, if it is meant');
  for (const { slug, code, reason } of waiting) text += row('', `${slug}: ${code}: ${reason}`);
  text += row('Signatures', countSignatures(outcomes));
  text += row('Requests', `${number(requests)}, ${number(Math.round(bytes / 1000))} kB received`);
  if (statistics !== undefined) {
    const { packages, versions } = statistics;
    text += row(
      'Packages',
      `${number(packages)}, ${plural(versions, 'version')}, of ${plural(stanzas, 'stanza')} read`,
    );
    const { written, unchanged, removed } = documents;
    text += row('Documents', `${number(written)} written, ${number(unchanged)} unchanged, ${number(removed)} removed`);
    if (site !== undefined) {
      const files = `${plural(site.written, 'file')} written, ${number(site.unchanged)} unchanged, ${number(site.removed)} removed`;
      text += row(
        'Site',
        `${plural(site.rendered, 'page')} rendered; ${files}; ${plural(site.searchable, 'package')} searchable`,
      );
    }
    text += row('Findings', findings.length === 0 ? 'none' : '');
    for (const { code, count } of findings) text += row('', `${number(count)} ${code}`);
  }
  const seconds = [...progress.seconds].map(([step, time]) => `${step} ${time.toFixed(1)}`);
  return text + row('Seconds', `${progress.total.toFixed(1)}: ${seconds.join(', ')}`);
};
