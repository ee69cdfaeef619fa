import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

// Titles of tests and comments cite properties in docs/properties.md by label (`C7`) and sections of docs/decisions.md
// by number. A citation that leads nowhere is a fault, and so is a property that no test checks.

/** A file of the project, by its path below the project's folder. */
interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const propertyLine = /^- \*\*([A-Z]\d+)\*\* /gm;
const decisionHeading = /^## (\d+)\. /gm;
// Labels at the beginning of a test's title: `'C1, C8: a certificate …'`, `'T4 the page …'`.
const title = (letters: string) => new RegExp(`['"\`]((?:[${letters}]\\d{1,2}(?:, )?)+)(?::| )`, 'g');
// Labels within a comment. A colour (`#C0FFEE`), an escape (`%C3`) or an identifier is none, and nor is what begins with
// a letter that no property has.
const cited = (letters: string) => new RegExp(`(?<![\\w%#&.$\\\\-])([${letters}]\\d{1,2})(?![\\w%.-]*[\\w%])`, 'g');
const citedSection = /[Dd]ecisions?, section[\s/*]+(\d+)/g;

const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, group = '']) => group);

const commentsOf = (text: string): string => all(text, /(\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$)/gm).join('\n');

/**
 * The faults in the citations, a sentence for each.
 *
 * @param properties text of docs/properties.md
 * @param decisions text of docs/decisions.md
 */
export const checkLabels = (properties: string, decisions: string, files: readonly SourceFile[]): string[] => {
  const labels = all(properties, propertyLine);
  const sections = new Set(all(decisions, decisionHeading));
  const known = new Set(labels);
  const letters = [...new Set(labels.map((label) => label.charAt(0)))].join('');
  const faults = labels
    .filter((label, index) => labels.indexOf(label) !== index)
    .map((label) => `docs/properties.md has ${label} twice.`);
  const tested = new Set<string>();
  for (const { path: name, text } of files) {
    const isTest = name.startsWith('test/');
    const titled = isTest ? all(text, title(letters)).flatMap((group) => group.split(', ').filter(Boolean)) : [];
    for (const label of titled) tested.add(label);
    for (const label of new Set([...titled, ...all(commentsOf(text), cited(letters))])) {
      if (!known.has(label)) faults.push(`${name} cites ${label}, which docs/properties.md does not have.`);
    }
    for (const section of new Set(all(text, citedSection))) {
      if (!sections.has(section))
        faults.push(`${name} cites section ${section}, which docs/decisions.md does not have.`);
    }
  }
  for (const label of labels) {
    if (!tested.has(label)) faults.push(`No test names ${label}: begin the title of the one that checks it with it.`);
  }
  return faults;
};

if (import.meta.main) {
  const root = path.join(import.meta.dirname, '..');
  const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
  const names = globSync('{src,functions,scripts,test}/**/*.{ts,astro}', { cwd: root });
  const files = names.map((name) => ({ path: name.split(path.sep).join('/'), text: read(name) }));
  const faults = checkLabels(read('docs/properties.md'), read('docs/decisions.md'), files);
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
