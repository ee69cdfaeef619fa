import { type Bucket, type S3Client, S3Refusal, type S3Request } from './s3-client.ts';
import { UploadError } from './upload-error.ts';

// What a store's refusals mean to an operator. The codes are from Amazon's list of errors, which other stores follow.

const needs: Readonly<Record<S3Request['method'], string>> = {
  GET: 's3:GetObject and s3:ListBucket (without the latter a store says 403 for what is not there)',
  HEAD: 's3:GetObject and s3:ListBucket (without the latter a store says 403 for what is not there)',
  PUT: 's3:PutObject',
  DELETE: 's3:DeleteObject',
};

const leaveOf = ({ method, query }: S3Request): string => {
  if (query === undefined) return needs[method];
  if ('cors' in query) return method === 'GET' ? 's3:GetBucketCORS' : 's3:PutBucketCORS';
  return 's3:ListBucket';
};

// Of a wrong address, of a proxy, or of a network that wants somebody to sign in first (RFC 6585, section 6).
const isOfAnother = ({ status, isPage }: S3Refusal): boolean =>
  (isPage && status < 300) || [302, 303, 308, 405, 511].includes(status);

const advise = (refusal: S3Refusal, bucket: Bucket, request: S3Request): string => {
  const { status, region } = refusal;
  const { name, endpoint } = bucket;
  // Some stores redirect without an error code.
  const code = refusal.code === '' && [301, 307].includes(status) ? 'PermanentRedirect' : refusal.code;
  switch (code) {
    case 'NoSuchBucket':
      return `There is no bucket ${name} at ${endpoint.host}: create it, or mind its name, --endpoint and --region.`;
    case 'InvalidAccessKeyId':
      return `${endpoint.host} does not know the access key: mind AWS_ACCESS_KEY_ID, and that it belongs to this endpoint.`;
    case 'SignatureDoesNotMatch':
      return 'The secret is not that of the access key: mind AWS_SECRET_ACCESS_KEY.';
    case 'ExpiredToken':
    case 'InvalidToken':
    case 'TokenRefreshRequired':
      return 'The credentials are temporary and over, or not whole: renew AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN together, then upload again; it goes on where it stopped.';
    case 'RequestTimeTooSkewed':
      return 'The clock of this machine differs from that of the store: set it.';
    case 'AuthorizationHeaderMalformed':
    case 'PermanentRedirect':
    case 'TemporaryRedirect':
    case 'IllegalLocationConstraintException':
      return `The bucket ${name} is in another region than ${bucket.region}: name ${region === undefined ? 'its own' : region} with --region${endpoint.host.includes('amazonaws') ? '' : ', or its --endpoint'}.`;
    case 'EntityTooLarge':
      return 'The store takes no object so large in one piece.';
    case 'XMinioParentIsObject':
    case 'ObjectExistsAsPrefix':
    case 'XMinioObjectExistsAsDirectory':
      return 'This store has no room for both "a" and "a/b": upload with --files-only, and let the host in front of it find the files of addresses.';
    default:
  }
  if (/quota|storage.?full|insufficient/i.test(code) || status === 507) {
    return 'There is no more room for it. What was in force there still is; make room and upload again: it goes on where it stopped.';
  }
  if (isOfAnother(refusal)) {
    return 'No S3 store answers so: mind --endpoint (or AWS_ENDPOINT_URL_S3), the proxy where there is one, and whether this network wants somebody to sign in.';
  }
  if (status === 401 || status === 403) {
    return `The credentials may not do this: they need ${leaveOf(request)} for ${name}.`;
  }
  if (status === 404) return `There is no bucket ${name} at ${endpoint.host}, or this is no S3 endpoint.`;
  return 'Upload again later: it goes on where it stopped.';
};

/** Composes a sentence: what was refused, in the store's words, and what to do. */
const describeRefusal = (refusal: S3Refusal, bucket: Bucket, request: S3Request): string => {
  const target = request.key === undefined ? `the bucket ${bucket.name}` : `${bucket.name}/${request.key}`;
  return `${bucket.endpoint.host} refused ${request.method} of ${target} (${refusal.message}). ${advise(refusal, bucket, request)}`;
};

/** Asks a bucket, and throws an UploadError with such a sentence, and `more` after it, if it refuses. */
export const askBucket = async (client: S3Client, request: S3Request, accepted: readonly number[] = [], more = '') => {
  try {
    return await client.request(request, accepted);
  } catch (error) {
    if (!(error instanceof S3Refusal)) throw error;
    throw new UploadError(`${describeRefusal(error, client.bucket, request)}${more}`, { cause: error });
  }
};
