import type { ManifestEntry } from '../contract/manifest.ts';
import { composeIndexRepositories, composeUnsafeHosts } from '../contract/older-addresses/lists.ts';
import { createOlderOpenApi } from '../contract/older-addresses/openapi.ts';
import { olderOperations } from '../contract/older-addresses/operations.ts';
import { createOpenApi, type Examples } from '../contract/openapi.ts';
import { composePolicyText } from '../contract/privacy-policy.ts';
import type { Addressing } from '../contract/public-addresses.ts';
import type { LandingRecord } from '../contract/records.ts';
import type { SafetyEntry } from '../contract/safety.ts';
import type { Service } from '../contract/service-file.ts';
import { type Document, textDocument } from './document.ts';
import { documents } from './documents.ts';

/** What is published, and by whom. */
export interface Publication extends Addressing {
  readonly service: Service;
  readonly version: string;
  /** Whether there are also pages. */
  readonly site: boolean;
  /** The signer of generations, if there is a key. */
  readonly signer?: { readonly publicKey: string } | undefined;
}

/** The service's description of itself. `build` identifies what it was built from. */
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

/** Files that people wrote and that older addresses publish. */
interface Written {
  readonly entries: readonly ManifestEntry[];
  /** The safety list. */
  readonly unsafe?: readonly SafetyEntry[] | undefined;
}

const listText = (path: string, list: readonly unknown[]): Document =>
  textDocument(path, `${JSON.stringify(list, null, 1)}\n`);

/** The documents without a date. `changes` is the text of CHANGELOG.md. */
export const composeDescriptions = (
  { base, staticRefs, version, site, service, entries, unsafe = [] }: Publication & Written,
  examples: Examples | undefined,
  changes: string,
): Document[] => {
  const description = createOpenApi({ publicAddress: base, version, examples, site, staticRefs });
  return [
    documents.openapiJson(description),
    documents.openapiYaml(description),
    textDocument('changes.txt', changes),
    textDocument('privacy.txt', composePolicyText(service.privacy_updated)),
    textDocument(
      olderOperations.description.file,
      JSON.stringify(createOlderOpenApi({ publicAddress: base, version })),
    ),
    listText(olderOperations.indexRepositories.file, composeIndexRepositories(entries)),
    listText(olderOperations.unsafeHosts.file, composeUnsafeHosts(unsafe)),
  ];
};
