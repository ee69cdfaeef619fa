import { downloadsAtOption, downloadsOption } from './downloads-option.ts';
import { logOptions } from './log-options.ts';
import type { Option } from './options.ts';
import { dataOption } from './read-service.ts';

/** The flags of every command that builds. */
export const buildOptions = {
  manifest: {
    type: 'string',
    value: 'PATH',
    environment: 'DEBDEX_MANIFEST',
    help: 'Folder of manifest entries, or one JSON or YAML file with a list of them; without it data/repositories, or repositories in --data.',
  },
  data: dataOption,
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
    help: 'Public address of what is published; links are made of it. It may have a path, below which everything then lies.',
  },
  'static-refs': {
    type: 'boolean',
    environment: 'DEBDEX_STATIC_REFS',
    help: 'Name files alone in refs, pages and descriptions (they end in .json), for hosts without rules such as GitHub Pages.',
  },
  'allow-private-networks': {
    type: 'boolean',
    environment: 'DEBDEX_ALLOW_PRIVATE_NETWORKS',
    help: 'Crawl loopback and private addresses too.',
  },
  'no-site': { type: 'boolean', environment: 'DEBDEX_NO_SITE', help: 'Leave out the pages; documents alone.' },
  'fail-on-stale': {
    type: 'part',
    value: 'PART',
    default: '40%',
    environment: 'DEBDEX_FAIL_ON_STALE',
    help: 'End with exit code 3 where more of the repositories than this are stale or failed: a share such as 40%, or a count such as 12. 100% never does.',
  },
  only: {
    type: 'string',
    value: 'SLUGS',
    environment: 'DEBDEX_ONLY',
    help: 'Visit these repositories alone (a comma between two); the others stay as they are.',
  },
  'retry-now': {
    type: 'string',
    value: 'SLUGS',
    environment: 'DEBDEX_RETRY_NOW',
    help: 'Visit these repositories though they are to be left alone for a while after a failure.',
  },
  concurrency: {
    type: 'integer',
    value: 'N',
    default: 32,
    minimum: 1,
    maximum: 256,
    environment: 'DEBDEX_CONCURRENCY',
    help: 'Repositories worked on at once, without those that wait for their origin; at any one host there are never more than two.',
  },
  'time-budget': {
    type: 'duration',
    value: 'TIME',
    environment: 'DEBDEX_TIME_BUDGET',
    help: 'The longest that the crawl may take, such as 90s, 10m or 2h; what it has by then is published.',
  },
  'dry-run': {
    type: 'boolean',
    environment: 'DEBDEX_DRY_RUN',
    help: 'Crawl and say what would change; keep and publish nothing.',
  },
  verify: {
    type: 'boolean',
    environment: 'DEBDEX_VERIFY',
    help: 'Read all that was published and kept, and write again what is not as it was written; without it sizes are compared.',
  },
  precompress: {
    type: 'boolean',
    environment: 'DEBDEX_PRECOMPRESS',
    help: 'Keep a brotli and a gzip copy beside each file, for servers that send such copies.',
  },
  portions: {
    type: 'boolean',
    environment: 'DEBDEX_PORTIONS',
    help: 'Publish the catalog as rows too, which a function at the edge follows (deploy/cloudflare). Takes about as much disk again as the compressed catalog.',
  },
  report: {
    type: 'string',
    value: 'FILE',
    environment: 'DEBDEX_REPORT',
    help: 'Write what the build did to FILE as JSON; docs/report.schema.json describes it.',
  },
  notify: {
    type: 'list',
    value: 'URL',
    environment: 'DEBDEX_NOTIFY',
    help: 'Tell this address what changed: a repository that fails or recovers, what is held back, a build that failed. May be given again. A webhook, or one of Discord or Slack (known by the host, or by discord: or slack: before the address). Whoever lists the processes sees flags, so better use the variable.',
  },
  'downloads-database': downloadsOption,
  'downloads-at': downloadsAtOption,
  sample: {
    type: 'boolean',
    environment: 'DEBDEX_SAMPLE',
    help: 'Build the bundled sample instead of the manifest; needs no network.',
  },
  ...logOptions,
} as const satisfies Record<string, Option>;
