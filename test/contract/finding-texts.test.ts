import { describe, expect, it } from 'vitest';
import { comparedTexts } from '../../src/contract/finding-texts/compared-findings.ts';
import { crawlTexts } from '../../src/contract/finding-texts/crawl-findings.ts';
import { networkTexts } from '../../src/contract/finding-texts/network-findings.ts';
import { packageTexts } from '../../src/contract/finding-texts/packages-findings.ts';
import { releaseTexts } from '../../src/contract/finding-texts/release-findings.ts';
import {
  type FindingCode,
  findingText,
  findingTexts,
  isFindingCode,
  operatorSentence,
  withoutOrders,
} from '../../src/contract/finding-texts.ts';
import { FindingCounter } from '../../src/contract/findings.ts';

// That every code which can be produced has an entry is checked by the compiler: Finding.code is of this table.
describe('the texts of findings', () => {
  it.each(Object.entries(findingTexts))('%s: has sentences for operator and owner', (code, text) => {
    expect(code).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(text.operator.split('{}')).toHaveLength(2);
    expect(text.operator).toMatch(/^[A-Z].*\.$/s);
    expect(text.owner).toMatch(/^[A-Z].*\.$/s);
    expect(text.title).toMatch(/^[A-Z].*[^.]$/);
  });

  it.each(Object.keys(findingTexts) as FindingCode[])(
    '%s: tells everybody what was seen, and nobody but the operator what to do',
    (code) => {
      const told = withoutOrders(code, operatorSentence(code, 'status 404. $& for /x'));
      expect(told).toMatch(/status 404\. \$& for \/x\)?\.$/);
      const beside = withoutOrders(
        code,
        findingText(code).operator.replace('{}', () => 'x'),
      );
      expect(beside).not.toMatch(/Check|Accept|Allow|name that|that is meant/);
      expect(beside.endsWith(' Another file was used instead.')).toBe(
        findingText(code).operator.endsWith(' Another file was used instead.'),
      );
    },
  );

  // What is said beside data in use must not deny that there is any.
  const failures = Object.keys({ ...networkTexts, ...crawlTexts }) as FindingCode[];
  // An InRelease that is missing beside a Release is no finding.
  const ofFiles = failures.filter((code) => !code.startsWith('signature-') && code !== 'release-missing');

  it.each(ofFiles)('C8: %s beside data in use is of one file, and another was taken', (code) => {
    const { title, operator } = findingText(code);
    expect(operator.split('{}')).toHaveLength(2);
    expect(operator).toMatch(/^[A-Z].*\. Another file was used instead\.$/s);
    for (const text of [title, operator]) {
      expect(text).not.toMatch(/There is no|^The (Packages )?index (is empty|names no)|any compression/);
    }
  });

  it('C8: a finding that is no failure means the same beside data in use', () => {
    for (const code of ['redirected', 'signature-lost', 'size-missing'] as const) {
      expect(findingText(code)).toBe(findingTexts[code]);
    }
  });

  it('name each code once', () => {
    const tables = [networkTexts, crawlTexts, releaseTexts, packageTexts, comparedTexts];
    const codes = tables.flatMap((table) => Object.keys(table));
    expect(codes).toHaveLength(Object.keys(findingTexts).length);
  });

  it('C11: control characters of a stranger reach no terminal', () => {
    expect(operatorSentence('dns', 'a\u001b[2Jb\u009bc\r\n\u0007')).toContain('a\ufffd[2Jb\ufffdc\ufffd\ufffd\ufffd.');
  });

  it('C11: nor do they reach a page in the example of a finding, which is one line', () => {
    const findings = new FindingCounter();
    findings.add('relation-malformed', 'depends: a\0\x1b[2J,\r\n b\x85');
    expect(findings.list()).toEqual([
      { code: 'relation-malformed', count: 1, example: 'depends: a\ufffd\ufffd[2J,  b\ufffd' },
    ]);
  });

  it('C10: no name of an object is a code, and evidence is taken as it is', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) expect(isFindingCode(name)).toBe(false);
    expect(operatorSentence('dns', "$& $' {}")).toContain("not resolve: $& $' {}.");
  });
});
