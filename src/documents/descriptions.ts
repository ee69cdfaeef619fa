import { createOpenApi, type Examples } from '../contract/openapi.ts';
import type { Addressing } from '../contract/paths.ts';
import { composePolicyText } from '../contract/privacy-policy.ts';
import type { LandingRecord } from '../contract/records.ts';
import type { Service } from '../contract/service-file.ts';
import { type Document, textDocument } from './document.ts';
import { documents } from './documents.ts';

/** What is published, and by whom. */
export interface Publication extends Addressing {
  readonly service: Service;
  readonly version: string;
  /** Whether there are pages too. */
  readonly site: boolean;
  /** Who signs what tells of a generation, where there is a key. */
  readonly signer?: { readonly publicKey: string } | undefined;
}

/** What the service says of itself; `build` names what it was built from. */
export const composeLanding = (
  { base, service, version, site, signer }: Publication,
  statistics: LandingRecord['statistics'],
  build: string,
): LandingRecord => ({
  info: { name: service.name, version, build, platform: 'static', runtime: 'Node.js' },
  reference: {
    docs: site ? `${base}/api/` : `${base}/v2/openapi.json`,
    changes: site ? `${base}/changes/` : `${base}/changes.txt`,
    privacy_policy: site ? `${base}/privacy/` : `${base}/privacy.txt`,
    privacy_updated: service.privacy_updated,
    contact_email: service.contact_email,
    copyright: service.copyright,
    ...(signer === undefined ? {} : { signing_key: signer.publicKey }),
  },
  statistics,
});

/** The documents without a date; `changes` is the text of the list of changes. */
export const composeDescriptions = (
  { base, staticRefs, version, site, service }: Publication,
  examples: Examples | undefined,
  changes: string,
): Document[] => {
  const description = createOpenApi({ publicAddress: base, version, examples, site, staticRefs });
  return [
    documents.openapiJson(description),
    documents.openapiYaml(description),
    textDocument('changes.txt', changes),
    textDocument('privacy.txt', composePolicyText(service.privacy_updated)),
  ];
};
