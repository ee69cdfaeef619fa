import type { Option } from './options.ts';

/** The flags of every command that builds. */
export const buildOptions = {
  manifest: {
    type: 'string',
    value: 'PATH',
    default: 'data/repositories',
    environment: 'DEBDEX_MANIFEST',
    help: 'Folder of manifest entries, or one JSON or YAML file with a list of them.',
  },
  state: {
    type: 'string',
    value: 'DIR',
    default: 'state',
    environment: 'DEBDEX_STATE',
    help: 'Folder of snapshots and catalog; what was crawled before is kept there.',
  },
  out: {
    type: 'string',
    value: 'DIR',
    default: 'dist',
    environment: 'DEBDEX_OUT',
    help: 'Folder to publish into.',
  },
  'base-url': {
    type: 'string',
    value: 'URL',
    default: 'http://localhost:8080',
    environment: 'DEBDEX_BASE_URL',
    help: 'Public address of what is published; links are made of it.',
  },
  'allow-private-networks': {
    type: 'boolean',
    environment: 'DEBDEX_ALLOW_PRIVATE_NETWORKS',
    help: 'Crawl loopback and private addresses too.',
  },
  'no-site': { type: 'boolean', environment: 'DEBDEX_NO_SITE', help: 'Leave out the pages; documents alone.' },
  'fail-on-stale': {
    type: 'share',
    value: 'SHARE',
    default: 40,
    environment: 'DEBDEX_FAIL_ON_STALE',
    help: 'Ends with exit code 3 where more of the repositories than this are stale or failed; 100% never does.',
  },
  sample: {
    type: 'boolean',
    environment: 'DEBDEX_SAMPLE',
    help: 'Build the bundled sample instead of the manifest; needs no network.',
  },
} as const satisfies Record<string, Option>;
