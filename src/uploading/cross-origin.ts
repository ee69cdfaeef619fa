import { hash } from 'node:crypto';
import { askBucket } from './refusals.ts';
import type { S3Client, S3Request } from './s3-client.ts';

// A server's header for cross-origin requests has to be configured for a bucket, once, as a rule of its own.

const rule =
  '<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod><AllowedMethod>HEAD</AllowedMethod>' +
  '<AllowedHeader>*</AllowedHeader><ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>86400</MaxAgeSeconds></CORSRule>';

const ask = (client: S3Client, request: S3Request, accepted?: readonly number[]) =>
  askBucket(client, request, accepted, ' Or set the rule by other means, and leave --cors out.');

/** Whether one of these rules allows scripts of any site to read. */
const isOpen = (rules: string): boolean =>
  [...rules.matchAll(/<CORSRule>([\s\S]*?)<\/CORSRule>/g)].some(
    ([, text = '']) => /<AllowedOrigin>\*</.test(text) && /<AllowedMethod>GET</.test(text),
  );

/**
 * Adds a rule to the existing ones that allows scripts of any site to read a bucket. Returns whether that was
 * necessary.
 *
 * @throws UploadError if the credentials do not allow it, or the store does not support such rules
 */
export const openToScripts = async (client: S3Client): Promise<boolean> => {
  const query = { cors: '' };
  const found = await ask(client, { method: 'GET', query }, [404]);
  const rules = found.status === 404 ? '' : found.body.toString();
  if (isOpen(rules)) return false;
  const others = [...rules.matchAll(/<CORSRule>[\s\S]*?<\/CORSRule>/g)].map(([text]) => text);
  const body = Buffer.from(
    `<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${others.join('')}${rule}</CORSConfiguration>`,
  );
  const headers = {
    'content-type': 'application/xml',
    'content-md5': hash('md5', body, 'base64'),
  };
  await ask(client, { method: 'PUT', query, headers, body });
  return true;
};
