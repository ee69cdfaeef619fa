import { type FindingText, weak } from './text-findings.ts';

/** Findings from comparing a repository with others, and with its past. */
export const comparedTexts = {
  'package-bytes-changed': weak(
    'The bytes of a version changed',
    'The index names different bytes for a version that it had before: {}.',
    'Raise the version with every new build: people with the old build are offered no update, and a download that meets both fails its check.',
  ),
  'package-diverges': weak(
    'Another repository has the same version with different bytes',
    'The same package, version and architecture has different bytes in another repository: {}.',
    'If yours is the copy, use the file of the original, or give your build a version of its own, such as 1.0-1~example1: otherwise chance decides which of the two is installed.',
  ),
} as const satisfies Record<string, FindingText>;
