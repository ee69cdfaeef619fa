import type { RepositoryFindings } from '../catalog/reading.ts';
import { type FindingText, fillSentence, findingText, findingTexts } from '../contract/finding-texts.ts';
import type { Finding } from '../contract/findings.ts';
import type { FindingRecord, FindingsRecord } from '../contract/records.ts';
import { signingTexts } from '../contract/signing-states.ts';

const computeFinding = ({ code, count, example }: Finding, text: FindingText): FindingRecord => {
  const { weight, title, owner } = text;
  return { code, weight, count, title, for_operator: fillSentence(text, example), for_owner: owner };
};

/** What is wrong with a repository, in words. `failure` is why its last crawl took nothing. */
export const composeFindings = (
  slug: string,
  found: Omit<RepositoryFindings, 'slug'> | undefined,
  failure: Finding | undefined,
): FindingsRecord => ({
  repository_id: slug,
  failure: failure ? computeFinding(failure, findingTexts[failure.code]) : null,
  signature: found
    ? { state: found.signing.state, text: signingTexts[found.signing.state], signers: [...found.signing.signers] }
    : null,
  findings: (found?.findings ?? []).map((finding) => computeFinding(finding, findingText(finding.code))),
});
