import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createOpenApi } from '../../src/contract/openapi.ts';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const changes = read('CHANGELOG.md');
const releases = [...changes.matchAll(/^## (\d+\.\d+\.\d+) – (\d{4}-\d\d-\d\d)$/gm)].map(
  ([, version = '', date = '']) => ({ version, date }),
);

describe('the list of changes', () => {
  it('H5: dates every release, the newest first, and knows the one that this is', () => {
    const headings = [...changes.matchAll(/^## .*$/gm)].map(([heading]) => heading);
    const dated = releases.map(({ version, date }) => `## ${version} – ${date}`);
    expect(headings.filter((heading) => heading !== '## Unreleased')).toEqual(dated);
    expect(headings.indexOf('## Unreleased')).toBeLessThanOrEqual(0);
    expect(releases.map(({ date }) => date)).toEqual(
      releases
        .map(({ date }) => date)
        .toSorted()
        .toReversed(),
    );
    expect(releases[0]?.version).toBe(JSON.parse(read('package.json')).version);
    expect(releases.at(-1)?.version).toBe('0.1.0');
  });

  it('H5: tells, under the release of that day, of every field that the description calls deprecated', () => {
    const { components } = createOpenApi({ publicAddress: 'https://index.test', version: '1' }) as {
      components: { schemas: Record<string, { properties?: Record<string, { description?: string }> }> };
    };
    const fields = Object.values(components.schemas).flatMap(({ properties = {} }) => Object.entries(properties));
    const dated = fields.flatMap(([name, { description = '' }]) => {
      const [, instead, date] = /use (\w+)\. Deprecated since (\S+)\.$/.exec(description) ?? [];
      return date === undefined ? [] : [{ name, instead, date }];
    });
    expect(dated.length).toBeGreaterThan(4);
    for (const { name, instead, date } of dated) {
      const entry = changes.split(/^## /m).find((text) => text.split('\n')[0]?.endsWith(` – ${date}`));
      expect(entry?.replaceAll(/\s+/g, ' '), `${name} since ${date}`).toContain(`\`${name}\` (use \`${instead}\`)`);
    }
  });
});
