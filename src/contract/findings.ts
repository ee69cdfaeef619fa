import type { FindingCode } from './finding-texts.ts';
import { joinRedirects, shortenRedirects } from './redirected.ts';

/**
 * Something wrong with an origin, with a count. finding-texts.ts explains `code`. `example` is the first occurrence, in
 * words or as the faulty text, on one line and cut to 200 characters. In place of control characters, which neither pages
 * nor terminals show, it has U+FFFD. That of `redirected` is longer: it has one redirect to each address that files
 * come from, since any of them may be on the safety list, and `showExample` shows less of it.
 */
export interface Finding {
  readonly code: FindingCode;
  readonly count: number;
  readonly example: string;
}

/** A finding, and since when every build has found it, ISO 8601; undefined if that is not known. */
export interface DatedFinding extends Finding {
  readonly since?: string | undefined;
}

/** Why nothing new could be taken from a repository. */
export interface Failure extends DatedFinding {
  /** If the repository is left alone because it failed before: the code of that failure. */
  readonly earlier?: string | undefined;
}

/** A text of a stranger on one line, with U+FFFD in place of control characters: neither pages nor terminals show them. */
export const withoutControls = (text: string): string =>
  text.replaceAll(/[\t\r\n]+/g, ' ').replaceAll(/\p{Cc}/gu, '\ufffd');

const exampleOf = (code: FindingCode, text: string): string =>
  withoutControls(code === 'redirected' ? text : text.slice(0, 200).toWellFormed());

/** The example of a finding as it is shown to people. */
export const showExample = ({ code, example }: { readonly code: string; readonly example: string }): string =>
  code === 'redirected' ? shortenRedirects(example) : example;

/** Counts findings by code, and keeps the first example of each, of redirects one to each address. */
export class FindingCounter {
  readonly #findings = new Map<FindingCode, { code: FindingCode; count: number; example: string }>();

  add(code: FindingCode, example: string, count = 1): void {
    const known = this.#findings.get(code);
    if (known === undefined) {
      this.#findings.set(code, { code, count, example: exampleOf(code, example) });
      return;
    }
    known.count += count;
    if (code === 'redirected') known.example = joinRedirects(known.example, example);
  }

  addAll(findings: Iterable<Finding>): void {
    for (const { code, example, count } of findings) this.add(code, example, count);
  }

  /** The findings so far, ordered by code. */
  list(): Finding[] {
    return [...this.#findings.values()].sort((a, b) => (a.code < b.code ? -1 : 1)).map((finding) => ({ ...finding }));
  }
}
