import type { RepositoryFindings } from '../catalog/reading.ts';
import { type FindingText, failureText, fillSentence, findingText } from '../contract/finding-texts.ts';
import { type DatedFinding, type Failure, showExample } from '../contract/findings.ts';
import type { FindingRecord, FindingsRecord } from '../contract/records.ts';
import { signingTexts } from '../contract/signing-states.ts';

const computeFinding = (finding: DatedFinding, text: FindingText): FindingRecord => {
  const { code, count, since } = finding;
  const { weight, title, owner } = text;
  const sentences = { for_operator: fillSentence(text, showExample(finding)), for_owner: owner };
  return { code, weight, count, title, ...sentences, since: since ?? null };
};

/** What is wrong with a repository, in words. `failure` is why its last crawl took nothing. */
export const composeFindings = (
  slug: string,
  found: (Pick<RepositoryFindings, 'signing'> & { readonly findings: readonly DatedFinding[] }) | undefined,
  failure: Failure | undefined,
): FindingsRecord => ({
  repository_id: slug,
  failure: failure ? computeFinding(failure, failureText(failure.code, failure.earlier)) : null,
  signature: found
    ? { state: found.signing.state, text: signingTexts[found.signing.state], signers: [...found.signing.signers] }
    : null,
  findings: (found?.findings ?? []).map((finding) => computeFinding(finding, findingText(finding.code))),
});
