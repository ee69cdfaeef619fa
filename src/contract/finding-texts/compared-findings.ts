import { type FindingText, weak } from './text-findings.ts';

/** What is found by comparing a repository with others, and with what it was before. */
export const comparedTexts = {
  'package-bytes-changed': weak(
    'A version changed its bytes',
    'The index named other bytes for a version that it had before: {}.',
    'Raise the version with every new build: who has the old one is offered no update, and a download that meets both fails its check.',
  ),
  'package-diverges': weak(
    'Another repository has the same version with other bytes',
    'The same package, version and architecture has other bytes in another repository: {}.',
    'Take the file of the other repository, or give a build of your own a version of its own, such as 1.0-1~example1: else chance decides which of both is installed.',
  ),
} as const satisfies Record<string, FindingText>;
