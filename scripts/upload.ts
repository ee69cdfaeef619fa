import { Progress } from '../src/pipeline/progress.ts';
import type { Destination } from '../src/uploading/destination.ts';
import { LocalPublication } from '../src/uploading/local-publication.ts';
import { openDestination } from '../src/uploading/open-destination.ts';
import { type UploadSummary, upload } from '../src/uploading/upload.ts';
import { buildOptions } from './build-options.ts';
import { aloneEndings } from './exit-codes.ts';
import { letEverybodyRead } from './for-everybody.ts';
import { findTyped, proxyVariables, runCommand, UsageError } from './options.ts';
import { readProxyOptions } from './read-proxies.ts';
import { toCommandFailure } from './upload-end.ts';

const command = {
  name: 'upload',
  summary:
    'Uploads what was built to DESTINATION: a folder (another disk, a mount), or s3://bucket/prefix in object storage. Sends\n' +
    'only what changed since the last time, and in an order in which no file ever names a missing one. Safe to interrupt and\n' +
    'to repeat: it continues where it stopped. Credentials: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.\n' +
    'See docs/publication.md.',
  operand: 'DESTINATION',
  options: {
    out: { ...buildOptions.out, help: 'Folder to upload: the output of a build, or a mirror.' },
    endpoint: {
      type: 'string',
      value: 'URL',
      environment: 'DEBDEX_S3_ENDPOINT',
      help: 'Address of the S3 service, if it is not Amazon. Without it: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.',
    },
    region: {
      type: 'string',
      value: 'NAME',
      environment: 'DEBDEX_S3_REGION',
      help: 'Region of the bucket. Without it: AWS_REGION, AWS_DEFAULT_REGION or us-east-1.',
    },
    concurrency: {
      type: 'integer',
      value: 'N',
      minimum: 1,
      maximum: 256,
      environment: 'DEBDEX_UPLOAD_CONCURRENCY',
      help: 'Files sent at once. Default: 32 to object storage, 8 to a folder.',
    },
    'keep-removed': {
      type: 'duration',
      value: 'TIME',
      default: 86_400,
      help: 'How long to keep files that are no longer published, because caches may name them, in seconds or such as 90s, 10m or 24h; the next upload after that removes them.',
    },
    'files-only': {
      type: 'boolean',
      help: 'Store files under their own names only, not under documented addresses too: for stores that cannot hold both "a" and "a/b".',
    },
    cors: {
      type: 'boolean',
      environment: 'DEBDEX_S3_CORS',
      help: 'Let scripts of any site read the bucket, as our server does; its other CORS rules stay.',
    },
    'dry-run': { ...buildOptions['dry-run'], help: 'Print what would be sent and removed, and do nothing.' },
    verify: {
      ...buildOptions.verify,
      help: 'Check every file at the destination instead of relying on the records there.',
    },
    force: {
      type: 'boolean',
      help: 'Upload even if the destination is newer, or holds something that is no publication.',
    },
  },
  variables: [proxyVariables],
  endings: aloneEndings(
    'could not be uploaded, and readers keep what was there',
    'another upload to the same place is under way',
  ),
} as const;

const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
const megabytes = (bytes: number): string => `${(bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 2 })} MB`;

const describe = (title: string, summary: UploadSummary, isRehearsal: boolean): string => {
  const { generation, sent, bytes, found, removed, kept } = summary;
  const which = `generation ${generation.number} of ${generation.date}`;
  const parts = [
    `${count(sent, 'object')} ${isRehearsal ? 'would be ' : ''}sent (${megabytes(bytes)})`,
    ...(found > 0 ? [`${found.toLocaleString('en')} there already`] : []),
    `${removed.toLocaleString('en')} ${isRehearsal ? 'would be ' : ''}removed`,
    ...(kept > 0 ? [`${kept.toLocaleString('en')} no longer published and kept for a while`] : []),
  ];
  return `${title} ${isRehearsal ? 'would hold' : 'holds'} ${which}: ${parts.join('; ')}.\n`;
};

await runCommand(command, async (values, address) => {
  const ofBucket = address.startsWith('s3:') ? undefined : findTyped(['endpoint', 'region', 'cors']);
  if (ofBucket !== undefined)
    throw new UsageError(`${ofBucket} is of a bucket, s3://bucket/prefix, and "${address}" is none`);
  letEverybodyRead();
  const progress = new Progress();
  let destination: Destination | undefined;
  try {
    destination = await openDestination({
      address,
      source: values.out,
      ...{ endpoint: values.endpoint, region: values.region, cors: values.cors && !values['dry-run'] },
      filesOnly: values['files-only'],
      concurrency: values.concurrency,
      environment: process.env,
      proxies: readProxyOptions(),
      onRetry: (reason) => progress.retry(reason),
    });
    const options = {
      publication: new LocalPublication(values.out),
      destination,
      concurrency: values.concurrency,
      keepRemovedMs: values['keep-removed'] * 1000,
      ...{ dryRun: values['dry-run'], force: values.force, verify: values.verify },
      onProgress: (done: number, total: number) => progress.update(done, total, 'objects'),
      onWait: (reason: string) => process.stderr.write(`${reason}\n`),
    };
    const summary = await progress.step('upload', () => upload(options));
    process.stdout.write(describe(destination.title, summary, values['dry-run']));
  } catch (error) {
    throw toCommandFailure(error);
  } finally {
    await destination?.close();
  }
});
