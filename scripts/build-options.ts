import { defaultAddress } from '../src/contract/paths.ts';
import { downloadsAtOption, downloadsOption } from './downloads-option.ts';
import { logOptions } from './log-options.ts';
import { type Option, proxyVariables } from './options.ts';
import { dataOption } from './read-service.ts';

/** Variables of a build that have no flag. */
export const buildVariables = [
  [
    'DEBDEX_SIGNING_KEY',
    'Private key in PEM, or the name of its file, to sign what is published (docs/publication.md).',
  ],
  ['DEBDEX_OPERATOR_KEY', 'Key of the Worker that --downloads-at names.'],
  ['SOURCE_DATE_EPOCH', 'What time it is, in seconds since 1970, so that a build can be repeated byte for byte.'],
  proxyVariables,
] as const;

/** The flags of every command that builds. */
export const buildOptions = {
  manifest: {
    type: 'string',
    value: 'PATH',
    help: 'Folder of manifest entries, or one JSON or YAML file with a list of them. Without it: repositories/ in --data.',
  },
  data: dataOption,
  state: {
    type: 'string',
    value: 'DIR',
    default: 'state',
    help: 'Folder of snapshots and catalog, which later builds need.',
  },
  out: {
    type: 'string',
    value: 'DIR',
    default: 'dist',
    help: 'Folder to publish into.',
  },
  'base-url': {
    type: 'string',
    value: 'URL',
    default: defaultAddress,
    help: 'Public address of what is published, used in all links. It may have a path.',
  },
  'static-refs': {
    type: 'boolean',
    help: 'Let refs, pages and descriptions name only files (ending in .json), for hosts without rules such as GitHub Pages.',
  },
  'allow-private-networks': {
    type: 'boolean',
    help: 'Crawl loopback and private addresses too.',
  },
  'no-site': {
    type: 'boolean',
    help: 'Publish documents only. Pages that were published before stay as they are.',
  },
  'fail-on-stale': {
    type: 'part',
    value: 'PART',
    default: '40%',
    help: 'End with exit code 3 if more repositories than this are stale or failed: a share such as 40%, or a count such as 12. Never with 100%.',
  },
  only: {
    type: 'string',
    value: 'SLUGS',
    help: 'Visit only these repositories (separated by commas); the others stay as they are.',
  },
  'retry-now': {
    type: 'string',
    value: 'SLUGS',
    help: 'Visit these repositories even if they are in a pause after a failure.',
  },
  concurrency: {
    type: 'integer',
    value: 'N',
    default: 32,
    minimum: 1,
    maximum: 256,
    help: 'Repositories worked on at once, not counting those that wait for a silent origin; never more than two at any one host.',
  },
  'time-budget': {
    type: 'duration',
    value: 'TIME',
    help: 'Maximum time for the crawl, such as 90s, 10m or 2h; the build then publishes what it has.',
  },
  'dry-run': {
    type: 'boolean',
    help: 'Crawl and say what would change; keep and publish nothing.',
  },
  verify: {
    type: 'boolean',
    help: 'Read everything that was published and kept, and repair what differs. Without it only sizes are compared.',
  },
  precompress: {
    type: 'boolean',
    help: 'Keep a brotli and a gzip copy beside each file, for web servers that can send them.',
  },
  portions: {
    type: 'boolean',
    help: 'Also publish the catalog as rows, which the function at the edge needs (deploy/cloudflare/README.md). Takes about as much disk as the compressed catalog.',
  },
  report: {
    type: 'string',
    value: 'FILE',
    help: 'Write what the build did to FILE as JSON; docs/report.schema.json describes it. A build that fails, or cannot write it, removes an older one.',
  },
  notify: {
    type: 'list',
    value: 'URL',
    help: 'Notify this address when a repository fails or recovers, something is held back, or a build fails. A webhook, Discord or Slack (recognised by host, or by discord: or slack: before the address). May be repeated. Other users of the machine can see flags: prefer the variable.',
  },
  'downloads-database': downloadsOption,
  'downloads-at': downloadsAtOption,
  sample: {
    type: 'boolean',
    help: 'Build the bundled sample instead of the manifest. Needs no network.',
  },
  ...logOptions,
} as const satisfies Record<string, Option>;
