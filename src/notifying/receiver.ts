/** The form of messages that a receiver expects. */
export type NoticeForm = 'webhook' | 'discord' | 'slack';

/** Where to notify the operator. Its address contains a secret: whoever knows it may write there. */
export interface Destination {
  readonly form: NoticeForm;
  readonly url: URL;
  /** The part of it that may be shown. */
  readonly name: string;
}

const forms: readonly NoticeForm[] = ['webhook', 'discord', 'slack'];

const formOf = ({ hostname, pathname }: URL): NoticeForm => {
  if (/^(?:[a-z]+\.)?discord(?:app)?\.com$/.test(hostname) && pathname.startsWith('/api/webhooks/')) return 'discord';
  return hostname === 'hooks.slack.com' || hostname === 'hooks.slack-gov.com' ? 'slack' : 'webhook';
};

/**
 * Parses `--notify`: an address whose form its host reveals, or one after `discord:`, `slack:` or `webhook:`. Throws a
 * RangeError that does not repeat the address.
 */
export const readDestination = (text: string): Destination => {
  const prefix = forms.find((form) => text.startsWith(`${form}:`));
  const url = URL.parse(prefix === undefined ? text : text.slice(prefix.length + 1));
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new RangeError(
      'must be an http or https address without a user, such as https://hooks.example.org/x, or one behind discord: or slack:',
    );
  }
  // The second would be taken for a part of the first, which would be told the secret of the second.
  if (url.host.includes(',') || /,(?:[a-z]+:)?https?:\//i.test(url.pathname))
    throw new RangeError(
      'must be one address: give the flag once for each, and separate them by blanks in the variable',
    );
  return { form: prefix ?? formOf(url), url, name: url.host };
};
