import { besideTexts } from './finding-texts/beside-findings.ts';
import { comparedTexts } from './finding-texts/compared-findings.ts';
import { crawlTexts } from './finding-texts/crawl-findings.ts';
import { networkTexts } from './finding-texts/network-findings.ts';
import { packageTexts } from './finding-texts/packages-findings.ts';
import { releaseTexts } from './finding-texts/release-findings.ts';
import type { FindingText } from './finding-texts/text-findings.ts';

/** Why nothing new could be taken from a repository; these may be findings too, where another file served. */
const failureTexts = { ...networkTexts, ...crawlTexts } as const;
export type FailureCode = keyof typeof failureTexts;

/** What each failure and finding means, by its code: the one place that says so. Codes are stable. */
export const findingTexts = { ...failureTexts, ...releaseTexts, ...packageTexts, ...comparedTexts } as const;
export type FindingCode = keyof typeof findingTexts;

/** What a finding means beside data that is in use: a failure is then of one file, and another served in its place. */
export const findingText = (code: FindingCode): FindingText => besideTexts[code] ?? findingTexts[code];

const findingCodes: ReadonlySet<string> = new Set(Object.keys(findingTexts));

/** Whether a text is the code of a finding; a snapshot of another version may hold one that is not. */
export const isFindingCode = (text: string): text is FindingCode => findingCodes.has(text);

// Evidence is a stranger's text, and control characters in it would be orders to the terminal that shows it.
const withoutControl = (text: string): string => text.replace(/\p{Cc}/gu, '\ufffd');

/** The sentence of a text for the operator, with the evidence in its place, fit to be printed. */
export const fillSentence = ({ operator }: FindingText, evidence: string): string =>
  operator.replace('{}', () => withoutControl(evidence));

/** The sentence for the operator about a failure, with the evidence in its place, fit to be printed. */
export const operatorSentence = (code: FindingCode, evidence: string): string =>
  fillSentence(findingTexts[code], evidence);

/**
 * A sentence for the operator without what the operator is told to do, which stands after the evidence: what is left is
 * for everybody who reads the site.
 */
export const withoutOrders = (code: FindingCode, sentence: string): string => {
  const [, orders = ''] = findingTexts[code].operator.split('{}.');
  return orders === '' ? sentence : sentence.replace(orders, '');
};

export type { FindingText };
