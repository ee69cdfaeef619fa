import type { Bucket, Credentials } from './s3-client.ts';
import { NoDestination, UploadError } from './upload-error.ts';

/** A bucket and a prefix in it, as in `s3://bucket/prefix`. */
export interface S3Address {
  readonly bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string;
}

// Amazon's rules for new buckets. No other store in use allows names beyond them.
const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Parses `s3://bucket/prefix`; undefined if the text is no such address. */
export const parseS3Address = (text: string): S3Address | undefined => {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]*)(.*)$/.exec(text) ?? [];
  const prefix = rest.replace(/^\/|\/$/g, '');
  const isPlain = prefix === '' || prefix.split('/').every((segment) => !/^\.{0,2}$|[\p{Cc}\\]/u.test(segment));
  return bucketName.test(bucket) && isPlain ? { bucket, prefix } : undefined;
};

const readCredentials = (environment: NodeJS.ProcessEnv): Credentials => {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = environment;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
    const missing = AWS_ACCESS_KEY_ID ? 'AWS_SECRET_ACCESS_KEY' : 'AWS_ACCESS_KEY_ID';
    throw new UploadError(
      `There are no credentials: ${missing} is not set. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN where they are temporary. Files of the AWS command line are not read: eval "$(aws configure export-credentials --format env)" sets the variables.`,
    );
  }
  // A file of a secret often ends with a line break. No header may have one, and no signature would match.
  const keys = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN };
  const [unusable] = Object.entries(keys).find(([, key]) => key && !/^[\x21-\x7e]+$/.test(key)) ?? [];
  if (unusable !== undefined) {
    throw new UploadError(
      `${unusable} must be printable ASCII characters without blanks: a file that it is read from may end with a line break.`,
    );
  }
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  };
};

/**
 * Reads the settings of a bucket from the flags, or else from the variables of the AWS tools.
 *
 * @throws UploadError if there are no credentials that can be sent, NoDestination if region or endpoint is none
 */
export const readBucket = (
  name: string,
  flags: { readonly endpoint: string | undefined; readonly region: string | undefined },
  environment: NodeJS.ProcessEnv,
): Bucket => {
  const region = flags.region ?? (environment.AWS_REGION || environment.AWS_DEFAULT_REGION || 'us-east-1');
  // It becomes part of a header and of a host name.
  if (!/^[\w.-]+$/.test(region))
    throw new NoDestination(`--region must be a name such as us-east-1, not ${JSON.stringify(region)}.`);
  const given = flags.endpoint ?? (environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL);
  const endpoint = URL.parse(given ?? `https://s3.${region}.amazonaws.com`);
  if (endpoint === null || !/^https?:$/.test(endpoint.protocol) || endpoint.search !== '' || endpoint.hash !== '') {
    throw new NoDestination(
      `--endpoint must be an http or https address such as https://s3.example.org, not "${given}".`,
    );
  }
  if (endpoint.username !== '' || endpoint.password !== '') {
    throw new NoDestination(
      '--endpoint must not name a user or a password: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are for that.',
    );
  }
  return { name, endpoint, region, credentials: readCredentials(environment) };
};
