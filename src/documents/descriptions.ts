import { stringify } from 'yaml';
import { createOpenApi, type Examples } from '../contract/openapi.ts';
import { documentPath } from '../contract/paths.ts';
import { composePolicyText } from '../contract/privacy-policy.ts';
import type { LandingRecord } from '../contract/records.ts';
import type { Service } from '../contract/service-file.ts';

/** What is published, and by whom. */
export interface Publication {
  /** Public address without trailing slash. */
  readonly base: string;
  readonly service: Service;
  readonly version: string;
  /** Whether there are pages too. */
  readonly site: boolean;
}

/** What the service says of itself; `build` names what it was built from. */
export const composeLanding = (
  { base, service, version, site }: Publication,
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
  },
  statistics,
});

/** The texts without a date, by path below the output folder; `changes` is the text of the list of changes. */
export const composeDescriptions = (
  { base, version, site, service }: Publication,
  examples: Examples | undefined,
  changes: string,
): Map<string, string> => {
  const description = createOpenApi({ publicAddress: base, version, examples, site });
  return new Map([
    [documentPath.openapiJson, JSON.stringify(description)],
    [documentPath.openapiYaml, composeYaml(description)],
    ['changes.txt', changes],
    ['privacy.txt', composePolicyText(service.privacy_updated)],
  ]);
};

// Many readers still read YAML 1.1, where a bare date, "yes" or 12:30 is no text: such texts are quoted for them.
const composeYaml = (description: unknown): string =>
  stringify(description, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
