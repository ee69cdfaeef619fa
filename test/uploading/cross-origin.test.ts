import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { openToScripts } from '../../src/uploading/cross-origin.ts';
import type { S3Client, S3Request } from '../../src/uploading/s3-client.ts';

/** A bucket with these rules, or without any; what is put there is noted. */
const openBucket = (rules: string | undefined) => {
  const put: S3Request[] = [];
  const request = async (asked: S3Request) => {
    if (asked.method === 'PUT') put.push(asked);
    const body = Buffer.from(rules === undefined ? '' : `<CORSConfiguration>${rules}</CORSConfiguration>`);
    return { status: rules === undefined ? 404 : 200, headers: {}, body };
  };
  return { client: { bucket: { name: 'index' }, request } as unknown as S3Client, put };
};
const ruleOf = (origin: string, method: string) =>
  `<CORSRule><AllowedOrigin>${origin}</AllowedOrigin><AllowedMethod>${method}</AllowedMethod></CORSRule>`;

it('a bucket that scripts of any site may read already is left as it is', async () => {
  const { client, put } = openBucket(ruleOf('https://a.example', 'PUT') + ruleOf('*', 'GET'));
  expect(await openToScripts(client)).toBe(false);
  expect(put).toEqual([]);
});

it('a bucket keeps its rules, and gets one more where none lets scripts of any site read', async () => {
  for (const rules of [undefined, ruleOf('https://a.example', 'GET') + ruleOf('*', 'PUT')]) {
    const { client, put } = openBucket(rules);
    expect(await openToScripts(client)).toBe(true);
    const [request] = put;
    const body = request?.body as Buffer;
    const text = body.toString();
    expect(text).toContain(
      `${rules ?? ''}<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>`,
    );
    expect(text.match(/<CORSRule>/g)).toHaveLength(rules === undefined ? 1 : 3);
    expect(request).toMatchObject({ query: { cors: '' }, headers: { 'content-md5': hash('md5', body, 'base64') } });
    expect(put).toHaveLength(1);
  }
});
