import { cacheControlOf, contentTypeOf } from '../contract/file-headers.ts';
import { addressOf } from '../contract/named-documents.ts';
import type { Destination, Tagged } from './destination.ts';
import type { LocalFile } from './local-publication.ts';
import { askBucket } from './refusals.ts';
import type { S3Client, S3Request } from './s3-client.ts';
import { Conflict, notKept, UploadError } from './upload-error.ts';

/** The longest key that stores accept, in bytes. */
const longestKey = 1024;
// The digest of the file that an object was made of. It tells whether the file has to be sent again; an ETag does not,
// because it is not always a digest.
const digestHeader = 'x-amz-meta-sha256';
const index = 'index.html';

// A proxy that may compress answers weakens their tags, and a weak one never meets a condition (RFC 9110, section 13.1.1).
const tagOf = (headers: Readonly<Record<string, string | undefined>>): string | undefined =>
  headers.etag?.replace(/^W\//, '');

// Amazon decodes a "+" that was not percent-encoded in a path as a blank.
const spellingsOf = (name: string): readonly string[] =>
  name.includes('+') ? [name, name.replaceAll('+', ' ')] : [name];

const addressNamesOf = (path: string): readonly string[] => {
  const address = addressOf(path);
  if (address === undefined) return [];
  // If a bucket serves a website, the address of a folder is answered with the index page in it.
  return address === '' || address.endsWith('/') ? [address, `${address}${index}`] : [address];
};

/** How a bucket is filled. */
export interface BucketOptions {
  readonly client: S3Client;
  /** Where in the bucket, without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string;
  /** Whether each documented address is also a key, so that the host can answer lookups without any rules. */
  readonly addresses: boolean;
}

/** A bucket, or the part of it below a prefix. One request replaces a whole object. */
export class BucketDestination implements Destination {
  readonly title: string;
  static readonly usualConcurrency = 32;
  readonly usualConcurrency = BucketDestination.usualConcurrency;
  readonly #client: S3Client;
  readonly #prefix: string;
  readonly #addresses: boolean;
  #honoursConditions: boolean | undefined;

  constructor({ client, prefix, addresses }: BucketOptions) {
    this.#client = client;
    this.#prefix = prefix;
    this.#addresses = addresses;
    this.title = `s3://${client.bucket.name}${prefix === '' ? '' : `/${prefix}`}`;
  }

  namesOf(path: string, isTaken: (name: string) => boolean): readonly string[] {
    const names = this.#addresses ? [path, ...addressNamesOf(path)] : [path];
    return this.#spell(path, names, isTaken);
  }

  everyNameOf(path: string): readonly string[] {
    return this.#spell(path, [path, ...addressNamesOf(path)], () => false);
  }

  #spell(path: string, names: readonly string[], isTaken: (name: string) => boolean): readonly string[] {
    const all = new Set(names);
    for (const name of names) for (const other of spellingsOf(name)) if (!isTaken(other)) all.add(other);
    return [...all].filter((name) => name === path || this.#fits(name));
  }

  #fits(name: string): boolean {
    const key = this.#keyOf(name);
    return key !== '' && Buffer.byteLength(key) <= longestKey;
  }

  #keyOf(name: string): string {
    return this.#prefix === '' ? name : `${this.#prefix}/${name}`;
  }

  formOf(path: string): string {
    const ending = path.slice(path.lastIndexOf('.') + 1);
    return [ending, contentTypeOf(path), cacheControlOf(path), this.#addresses ? 'addresses' : 'files'].join(' | ');
  }

  async isEmpty(): Promise<boolean> {
    const prefix = this.#prefix === '' ? '' : `${this.#prefix}/`;
    const { body } = await this.#ask({
      method: 'GET',
      query: { 'max-keys': '1', ...(prefix === '' ? {} : { prefix }) },
    });
    // A page may be empty although others follow.
    return !/<Key>|<IsTruncated>\s*true/i.test(body.toString());
  }

  async begin(): Promise<void> {}

  async read(name: string): Promise<Tagged | undefined> {
    const { status, headers, body } = await this.#ask({ method: 'GET', key: this.#keyOf(name) }, [404]);
    return status === 404 ? undefined : { bytes: body, tag: tagOf(headers) ?? '' };
  }

  async look(name: string, path: string, sha256: string): Promise<'same' | 'other' | 'none'> {
    const { status, headers } = await this.#ask({ method: 'HEAD', key: this.#keyOf(name) }, [404]);
    if (status === 404) return 'none';
    const isSame =
      headers[digestHeader] === sha256 &&
      headers['content-type'] === contentTypeOf(path) &&
      headers['cache-control'] === cacheControlOf(path);
    return isSame ? 'same' : 'other';
  }

  async put(name: string, path: string, file: LocalFile): Promise<void> {
    const key = this.#keyOf(name);
    if (Buffer.byteLength(key) > longestKey) {
      throw new UploadError(`${key} is longer than the ${longestKey} bytes that a key may have: use a shorter prefix.`);
    }
    const { headers } = await this.#ask({
      method: 'PUT',
      key,
      headers: this.#headersOf(path, file.sha256),
      body: file,
    });
    // Every store names a tag. A network that wants somebody to sign in may answer anything with an empty body.
    if (headers.etag === undefined && !(await this.#has(key, file))) throw notKept(this.title, name);
  }

  // Not every store keeps the digest, and not everything in front of one lets the length pass.
  async #has(key: string, { sha256, size }: LocalFile): Promise<boolean> {
    const { status, headers } = await this.#ask({ method: 'HEAD', key }, [404]);
    return status !== 404 && (headers[digestHeader] === sha256 || headers['content-length'] === String(size));
  }

  async replace(name: string, bytes: Buffer, tag: string | undefined): Promise<string> {
    const condition: Record<string, string> =
      this.#honoursConditions === false ? {} : tag === undefined ? { 'if-none-match': '*' } : { 'if-match': tag };
    const headers = { 'content-type': contentTypeOf(name), 'cache-control': cacheControlOf(name), ...condition };
    const request: S3Request = { method: 'PUT', key: this.#keyOf(name), headers, body: bytes };
    // With a tag, the object that was to be replaced may be gone.
    const answer = await this.#ask(request, tag === undefined ? [409, 412, 501] : [404, 409, 412, 501]);
    // The store does not support conditional requests, and says so.
    if (answer.status === 501 && Object.keys(condition).length > 0) {
      this.#honoursConditions = false;
      return this.replace(name, bytes, tag);
    }
    if (answer.status >= 400) {
      // The first answer may have been lost after the object was replaced; then this refusal answers the repetition.
      const found = await this.read(name);
      if (found === undefined || !found.bytes.equals(bytes)) throw new Conflict(name);
      return found.tag;
    }
    // If the store ignores conditions, the test has replaced the object once more, perhaps with another tag.
    const replaced = this.#honoursConditions === undefined && !(await this.#learnWhetherConditionsCount(request));
    return (replaced ? undefined : tagOf(answer.headers)) ?? (await this.#tagOfKept(name, bytes));
  }

  async #tagOfKept(name: string, bytes: Buffer): Promise<string> {
    const found = await this.read(name);
    if (found === undefined || found.bytes.length === 0) throw notKept(this.title, name);
    if (!found.bytes.equals(bytes)) throw new Conflict(name);
    return found.tag;
  }

  isSure(): boolean {
    return this.#honoursConditions ?? false;
  }

  async remove(name: string): Promise<void> {
    await this.#ask({ method: 'DELETE', key: this.#keyOf(name) }, [404]);
  }

  async flush(): Promise<void> {}

  async close(): Promise<void> {
    await this.#client.close();
  }

  // Sends the same bytes again with a condition that does not hold: a store that supports conditions refuses.
  async #learnWhetherConditionsCount(request: S3Request): Promise<boolean> {
    const { 'if-none-match': _, ...headers } = request.headers ?? {};
    const again = { ...request, headers: { ...headers, 'if-match': `"${'0'.repeat(32)}"` } };
    const { status } = await this.#ask(again, [409, 412, 501]);
    this.#honoursConditions = status === 412 || status === 409;
    return this.#honoursConditions;
  }

  #headersOf(path: string, sha256: string): Record<string, string> {
    return { 'content-type': contentTypeOf(path), 'cache-control': cacheControlOf(path), [digestHeader]: sha256 };
  }

  #ask(request: S3Request, accepted?: readonly number[]) {
    return askBucket(this.#client, request, accepted);
  }
}
