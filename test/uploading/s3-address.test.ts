import { expect, it } from 'vitest';
import { parseS3Address, readBucket } from '../../src/uploading/s3-address.ts';
import { NoDestination, UploadError } from '../../src/uploading/upload-error.ts';

const keys = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
const unset = { endpoint: undefined, region: undefined };
const read = (flags: Partial<Parameters<typeof readBucket>[1]>, environment: NodeJS.ProcessEnv = {}) =>
  readBucket('index', { ...unset, ...flags }, { ...keys, ...environment });

it('takes an address apart, and no text that is not one', () => {
  expect(parseS3Address('s3://index')).toEqual({ bucket: 'index', prefix: '' });
  expect(parseS3Address('s3://my.index-2/')).toEqual({ bucket: 'my.index-2', prefix: '' });
  expect(parseS3Address('s3://index/a/b c/')).toEqual({ bucket: 'index', prefix: 'a/b c' });
  const segments = ['a//b', '.', '..', 'a/..', 'a\\b', 'a\nb'];
  for (const text of ['s3:/index', 's3://', 's3://ab', 's3://-ab', 's3://ab-', `s3://${'a'.repeat(64)}`, 'S3://index'])
    expect(parseS3Address(text), text).toBeUndefined();
  for (const prefix of segments) expect(parseS3Address(`s3://index/${prefix}`), prefix).toBeUndefined();
  expect(parseS3Address(`s3://${'a'.repeat(63)}`)?.bucket).toHaveLength(63);
});

it('takes region and endpoint from the flags, else from the variables of the AWS tools as far as they say something', () => {
  const regions = { AWS_REGION: 'eu-north-1', AWS_DEFAULT_REGION: 'eu-west-3' };
  expect(read({ region: 'eu-south-1' }, regions).region).toBe('eu-south-1');
  expect(read({}, regions).region).toBe('eu-north-1');
  expect(read({}, { ...regions, AWS_REGION: '' }).region).toBe('eu-west-3');
  expect(read({}).region).toBe('us-east-1');
  const endpoints = { AWS_ENDPOINT_URL_S3: 'https://s3.example', AWS_ENDPOINT_URL: 'https://all.example' };
  expect(read({ endpoint: 'http://127.0.0.1:9' }, endpoints).endpoint.href).toBe('http://127.0.0.1:9/');
  expect(read({}, endpoints).endpoint.href).toBe('https://s3.example/');
  expect(read({}, { ...endpoints, AWS_ENDPOINT_URL_S3: '' }).endpoint.href).toBe('https://all.example/');
  expect(read({ region: 'eu-south-1' }).endpoint.href).toBe('https://s3.eu-south-1.amazonaws.com/');
});

it('takes no endpoint with what would be left out of every request', () => {
  for (const endpoint of ['ftp://s3.example', 's3.example', 'https://s3.example/?a=b', 'https://s3.example/#a'])
    expect(() => read({ endpoint }), endpoint).toThrow(NoDestination);
  expect(read({ endpoint: 'https://s3.example/storage' }).endpoint.pathname).toBe('/storage');
});

it('takes temporary credentials whole, and names the variable that is missing', () => {
  const { credentials } = read({}, { AWS_SESSION_TOKEN: 'token' });
  expect(credentials).toEqual({ accessKeyId: 'key', secretAccessKey: 'secret', sessionToken: 'token' });
  expect(read({}, { AWS_SESSION_TOKEN: '' }).credentials).toEqual({ accessKeyId: 'key', secretAccessKey: 'secret' });
  for (const [name, without] of [
    ['AWS_ACCESS_KEY_ID', { AWS_ACCESS_KEY_ID: '' }],
    ['AWS_SECRET_ACCESS_KEY', { AWS_SECRET_ACCESS_KEY: '' }],
  ] as const) {
    expect(() => read({}, without)).toThrow(UploadError);
    expect(() => read({}, without)).toThrow(`${name} is not set`);
  }
});

it('takes no credentials that no header could carry or no signature match, and does not repeat them', () => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']) {
    for (const text of ['hush\n', ' hush', 'hüsh']) {
      const message = new UploadError(
        `${name} must be printable ASCII characters without blanks: a file that it is read from may end with a line break.`,
      );
      expect(() => read({}, { [name]: text }), `${name} ${JSON.stringify(text)}`).toThrow(message);
    }
  }
});

it('takes no region that is no name, with an endpoint or without', () => {
  for (const region of ['us east 1', 'us-east-1\n', 'eu/west']) {
    for (const endpoint of [undefined, 'https://s3.example']) {
      expect(() => read({ region, endpoint }), region).toThrow(/--region must be a name such as us-east-1/);
      expect(() => read({ endpoint }, { AWS_REGION: region }), region).toThrow(NoDestination);
    }
  }
});

it('takes no endpoint with a user or a password, and does not repeat it', () => {
  for (const endpoint of ['https://user:hush@s3.example', 'https://hush@s3.example']) {
    expect(() => read({ endpoint }), endpoint).toThrow(
      /^--endpoint must not name a user or a password: AWS_(?!.*hush)/,
    );
  }
});
