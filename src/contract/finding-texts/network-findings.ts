import { amountOf } from '../limits.ts';
import { broken, type FindingText } from './text-findings.ts';

/** What can go wrong between the origin and us. */
export const networkTexts = {
  'address-refused': broken(
    'The address is not public',
    'The address leads to a network that is not public: {}. Build with --allow-private-networks if that is meant.',
    'Let the host name and every redirect lead to a public address.',
  ),
  'port-refused': broken(
    'A redirect leads to a refused port',
    'The origin redirects to a port that no web server uses: {}.',
    'Redirect to the usual ports of the web, 80 and 443.',
  ),
  'scheme-refused': broken(
    'A redirect leaves the web',
    'The origin redirects to something that is not http or https: {}.',
    'Redirect to https addresses only.',
  ),
  redirects: broken(
    'Redirects do not end',
    'The origin redirects without end: {}.',
    'Redirect at most five times; a loop is often a rule that sends https to http and back.',
  ),
  'redirect-insecure': broken(
    'A redirect gives up encryption',
    'The origin redirects from https to http, which is not followed: {}.',
    'Redirect to an https address, or serve the file at the first address.',
  ),
  'redirect-unreadable': broken(
    'A redirect leads nowhere',
    'The origin redirects to an address that cannot be read: {}.',
    'Write a whole https address into the Location header.',
  ),
  'no-network': broken(
    'The index could not reach the network',
    'The index itself could not reach the network: {}. Check the connection, the name servers and any proxy of this machine.',
    'Nothing needs to be done: the fault is ours.',
  ),
  dns: broken(
    'The host name does not resolve',
    'The host name does not resolve: {}. Check the address in the manifest.',
    'Check the DNS records of the host and whether the domain is still registered.',
  ),
  connection: broken(
    'The server cannot be reached',
    'The origin could not be reached: {}.',
    'Check that the server runs and that no firewall blocks crawlers.',
  ),
  'certificate-expired': broken(
    'The certificate has expired',
    'The certificate of the origin has expired or is not valid yet: {}.',
    'Renew the certificate, automate its renewal, and check the clock of the server.',
  ),
  'certificate-untrusted': broken(
    'The certificate is not trusted',
    'The certificate of the origin leads to no known authority: {}.',
    'Use a certificate of an authority that browsers know, and send the whole chain, not only the last certificate.',
  ),
  'certificate-name': broken(
    'The certificate is for another host',
    'The certificate of the origin is for another host than the one asked: {}.',
    'Get a certificate for this very host name, or publish the address of the host that the certificate names.',
  ),
  tls: broken(
    'The encryption is not in order',
    'No encrypted connection to the origin comes about: {}.',
    'Check that the server speaks TLS 1.2 or newer on that port, with usual ciphers.',
  ),
  timeout: broken(
    'The server does not answer in time',
    'The origin did not answer in time: {}.',
    'Serve these files as static files: they need to answer within seconds.',
  ),
  'too-slow': broken(
    'The server sends too slowly',
    'The origin sent too slowly: {}.',
    `Send at least ${amountOf('minBytesPerSecond')}, or put the repository behind a CDN.`,
  ),
  'too-large': broken(
    'A file is too large',
    'A file is larger than a repository needs: {}.',
    `Keep Release below ${amountOf('releaseBytes')}, and serve nothing else at its address.`,
  ),
  'headers-too-large': broken(
    'The answer has oversized headers',
    'The origin answered with oversized headers: {}.',
    `Send no more than ${amountOf('headerBytes')} of headers; cookies are of no use here.`,
  ),
  truncated: broken(
    'A file arrives cut short',
    'The connection ended before a file was whole: {}.',
    'Let Content-Length be the length of the file, and check what cuts connections on the way.',
  ),
  protocol: broken(
    'The answer is not HTTP',
    'The origin answered with something that is not HTTP: {}.',
    'Check that a web server answers on that port.',
  ),
  aborted: broken(
    'The crawl was stopped',
    'The crawl was stopped: {}.',
    'Nothing needs to be done: the next crawl starts again.',
  ),
} as const satisfies Record<string, FindingText>;
