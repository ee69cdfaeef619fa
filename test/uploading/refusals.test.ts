import { describe, expect, it } from 'vitest';
import { askBucket } from '../../src/uploading/refusals.ts';
import { type S3Client, S3Refusal, type S3Request } from '../../src/uploading/s3-client.ts';
import { UploadError } from '../../src/uploading/upload-error.ts';

interface Refused {
  readonly status: number;
  readonly code?: string;
  readonly page?: boolean;
  readonly host?: string;
}

/** What is said of a request that a store refuses so. */
const tell = async ({ status, code, page = false, host = 's3.example' }: Refused, request: S3Request) => {
  const text = page
    ? '<!doctype html><title>No</title>'
    : code === undefined
      ? ''
      : `<Error><Code>${code}</Code></Error>`;
  const refusal = new S3Refusal({ status, headers: {}, body: Buffer.from(text) });
  const bucket = { name: 'index', endpoint: new URL(`https://${host}/`), region: 'eu-west-3' };
  const client = { bucket, request: () => Promise.reject(refusal) } as unknown as S3Client;
  const error: unknown = await askBucket(client, request, [], ' More.').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UploadError);
  expect(error).toMatchObject({ cause: refusal });
  return (error as UploadError).message;
};
const put: S3Request = { method: 'PUT', key: 'v2/a.json' };

describe('what a store refuses', () => {
  it.each<[string, Refused]>([
    ['There is no bucket index at s3.example, or this is no S3 endpoint.', { status: 404 }],
    ['There is no bucket index at s3.example: create it', { status: 404, code: 'NoSuchBucket' }],
    ['renew AWS_ACCESS_KEY_ID', { status: 400, code: 'InvalidToken' }],
    ['renew AWS_ACCESS_KEY_ID', { status: 400, code: 'TokenRefreshRequired' }],
    ['another region than eu-west-3: name its own with --region, or its --endpoint.', { status: 307 }],
    ['name its own with --region.', { status: 301, host: 's3.eu-west-3.amazonaws.com' }],
    ['takes no object so large', { status: 400, code: 'EntityTooLarge' }],
    ['upload with --files-only', { status: 409, code: 'ObjectExistsAsPrefix' }],
    ['There is no more room', { status: 507 }],
    ['There is no more room', { status: 403, code: 'XMinioStorageFull' }],
    ['No S3 store answers so', { status: 200, page: true }],
    ['No S3 store answers so', { status: 405 }],
    ['The credentials may not do this', { status: 403, page: true }],
    ['The credentials may not do this', { status: 401 }],
    ['Upload again later', { status: 503, page: true }],
  ])('is told with "%s"', async (words, refused) => {
    const text = await tell(refused, put);
    expect(text).toContain(words);
    expect(text).toMatch(/^\S+ refused PUT of index\/v2\/a\.json \(\d+.*\)\. .+ More\.$/);
  });

  it.each<[string, S3Request]>([
    ['s3:GetObject and s3:ListBucket', { method: 'GET', key: 'a' }],
    ['s3:GetObject and s3:ListBucket', { method: 'HEAD', key: 'a' }],
    ['s3:PutObject', put],
    ['s3:DeleteObject', { method: 'DELETE', key: 'a' }],
    ['s3:ListBucket', { method: 'GET', query: { 'max-keys': '1' } }],
    ['s3:GetBucketCORS', { method: 'GET', query: { cors: '' } }],
    ['s3:PutBucketCORS', { method: 'PUT', query: { cors: '' } }],
  ])('for want of a right needs %s', async (right, request) => {
    expect(await tell({ status: 403, code: 'AccessDenied' }, request)).toContain(`they need ${right}`);
  });

  it('is told of the bucket where it is of no key, and any other failure as it is', async () => {
    expect(await tell({ status: 404 }, { method: 'GET', query: { cors: '' } })).toContain(
      'GET of the bucket index (404)',
    );
    const failure = new Error('of the test');
    const client = { request: () => Promise.reject(failure) } as unknown as S3Client;
    await expect(askBucket(client, put)).rejects.toBe(failure);
  });
});
