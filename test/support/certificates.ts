import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A certificate and its private key, both in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** The content of a certificate. Every field has a default. */
interface CertificatePlan {
  /** The host names and IPv4 addresses that it is valid for. */
  readonly names?: readonly string[];
  readonly from?: Date;
  readonly until?: Date;
  /** The issuer; by default the certificate signs itself. */
  readonly issuer?: CertificateAuthority;
}

// The few types of DER (ITU-T X.690) that an X.509 certificate (RFC 5280) consists of.
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.of(tag, content.length), content]);
  // Browsers require the shortest form (X.690, section 10.1).
  const digits = content.length.toString(16);
  const length = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, content]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const objectIdentifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const bitString = (bytes: Uint8Array): Buffer => der(0x03, Buffer.of(0), bytes);
const octetString = (bytes: Uint8Array): Buffer => der(0x04, bytes);
const time = (date: Date): Buffer =>
  // Until 2049 a year has two digits (RFC 5280, section 4.1.2.5).
  der(0x17, Buffer.from(date.toISOString().slice(2).replace(/[-:T]/g, '').replace(/\..*/, 'Z')));
const name = (commonName: string): Buffer =>
  sequence(der(0x31, sequence(objectIdentifier('550403'), der(0x0c, Buffer.from(commonName)))));
const extension = (identifier: string, value: Uint8Array): Buffer =>
  sequence(objectIdentifier(identifier), der(0x01, Buffer.of(0xff)), octetString(value));

const ecdsaWithSha256 = sequence(objectIdentifier('2a8648ce3d040302'));
const day = 86_400_000;

const alternativeName = (host: string): Buffer =>
  /^[\d.]+$/.test(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));

const compose = (plan: {
  subject: string;
  publicKey: KeyObject;
  issuer: string;
  signingKey: KeyObject;
  from: Date;
  until: Date;
  extensions: readonly Uint8Array[];
}): string => {
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1), randomBytes(8)),
    ecdsaWithSha256,
    name(plan.issuer),
    sequence(time(plan.from), time(plan.until)),
    name(plan.subject),
    createPublicKey(plan.publicKey.export({ type: 'spki', format: 'pem' })).export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...plan.extensions)),
  );
  const whole = sequence(body, ecdsaWithSha256, bitString(sign('sha256', body, plan.signingKey)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
};

const makeKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Signs certificates. A client that trusts its `cert` trusts them. */
export class CertificateAuthority {
  readonly cert: string;
  readonly name: string;
  readonly key: KeyObject;

  constructor(commonName = 'Authority for tests') {
    const { publicKey, privateKey } = makeKeys();
    this.name = commonName;
    this.key = privateKey;
    this.cert = compose({
      subject: commonName,
      publicKey,
      issuer: commonName,
      signingKey: privateKey,
      from: new Date(Date.now() - day),
      until: new Date(Date.now() + day),
      // Basic constraints: an authority. Key usage: signs certificates.
      extensions: [
        extension('551d13', sequence(der(0x01, Buffer.of(0xff)))),
        extension('551d0f', der(0x03, Buffer.of(2, 4))),
      ],
    });
  }
}

/** Makes a certificate of a web server; by default valid from yesterday to tomorrow. */
export const createCertificate = (plan: CertificatePlan = {}): Certificate => {
  const { names = ['127.0.0.1'], from = new Date(Date.now() - day), until = new Date(Date.now() + day) } = plan;
  const { publicKey, privateKey } = makeKeys();
  const subject = names[0] ?? '';
  const cert = compose({
    subject,
    publicKey,
    issuer: plan.issuer?.name ?? subject,
    signingKey: plan.issuer?.key ?? privateKey,
    from,
    until,
    extensions: [extension('551d11', sequence(...names.map(alternativeName)))],
  });
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
};
