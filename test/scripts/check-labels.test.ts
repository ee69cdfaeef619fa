import { describe, expect, it } from 'vitest';
import { checkLabels } from '../../scripts/check-labels.ts';

const properties = '- **C1** One.\n- **C2** Two.\n';
const decisions = '## 1. Addresses\n\n## 2. Envelope\n';
// Put together, so that the check of this project does not read what stands here as titles of its own.
const titled = (label: string) => ({ path: 'test/a.test.ts', text: `it('${label}: holds', () => {});` });
const both = [titled('C1'), titled('C2')];

describe('the check of labels', () => {
  it('is content where every label leads somewhere and every property has a test', () => {
    expect(checkLabels(properties, decisions, both)).toEqual([]);
    expect(checkLabels(properties, decisions, [titled('C1, C2')])).toEqual([]);
  });

  it('names a property without a test', () => {
    expect(checkLabels(properties, decisions, [titled('C1')])).toEqual([expect.stringContaining('No test names C2')]);
  });

  it('reads labels of every letter that the properties have', () => {
    const more = `${properties}- **E1** At the edge.\n`;
    const source = { path: 'src/a.ts', text: `// Bounded (${'E'}2), as on an A4 sheet.\n` };
    expect(checkLabels(more, decisions, [...both, source])).toEqual([
      'src/a.ts cites E2, which docs/properties.md does not have.',
      expect.stringContaining('No test names E1'),
    ]);
    expect(checkLabels(more, decisions, [...both, titled('E1'), titled('E9')])).toEqual([
      'test/a.test.ts cites E9, which docs/properties.md does not have.',
    ]);
  });

  it('names a title and a comment that cite what is not there', () => {
    const source = { path: 'src/a.ts', text: `// Bounded (${'C'}3).\nconst colour = '#C4';\n` };
    expect(checkLabels(properties, decisions, [...both, titled('C5'), source])).toEqual([
      'test/a.test.ts cites C5, which docs/properties.md does not have.',
      'src/a.ts cites C3, which docs/properties.md does not have.',
    ]);
  });

  it('does not take a test for one where only its code or a comment names the property', () => {
    const comment = { path: 'test/b.test.ts', text: `// ${'C'}2 is shown elsewhere.\nit('holds', () => {});` };
    expect(checkLabels(properties, decisions, [titled('C1'), comment])).toEqual([
      expect.stringContaining('No test names C2'),
    ]);
  });

  it('names a section that is not there, also where the comment is broken there', () => {
    const source = { path: 'src/a.ts', text: '/** As said (decisions, section\n * 3). */' };
    expect(checkLabels(properties, decisions, [...both, source])).toEqual([
      'src/a.ts cites section 3, which docs/decisions.md does not have.',
    ]);
  });

  it('names a property that is written twice', () => {
    expect(checkLabels(`${properties}- **C1** Again.\n`, decisions, both)).toEqual([
      'docs/properties.md has C1 twice.',
    ]);
  });
});
