import type { Notice } from './notices.ts';
import type { NoticeForm } from './receiver.ts';

/** The sender of notices: the name of the service, and its public address. */
export interface Teller {
  readonly name: string;
  readonly base: string;
}

// Limits of the receivers: Discord accepts 2,000 characters of content (discord.com/developers/docs/resources/webhook);
// Slack cuts texts above 40,000 and recommends 4,000 (api.slack.com/methods/chat.postMessage).
const longestText: Readonly<Record<NoticeForm, number>> = { webhook: 4000, discord: 2000, slack: 4000 };

const sentences: Readonly<Record<Notice['kind'], string>> = {
  failing: 'fails',
  recovered: 'is in order again',
  'held-back': 'has something that waits for your word (npm run accept)',
  'build-failed': 'The build failed',
  'build-recovered': 'Builds work again',
};

// Control characters and direction marks could control a terminal or a display, and a line break would make a text look
// like another notice.
const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');

/**
 * Escapes a stranger's text so that it mentions nobody, contains no links and no formatting. Discord: a backslash
 * before its markup, and a zero-width space after @, in addition to `allowed_mentions`. Slack: the characters that its
 * documentation requires to be escaped (api.slack.com/reference/surfaces/formatting#escaping).
 */
const escapes: Readonly<Record<NoticeForm, (text: string) => string>> = {
  webhook: (text) => text,
  discord: (text) =>
    text
      .replaceAll(/[\\`*_~|<>[\]()#-]/g, (character) => `\\${character}`)
      .replaceAll('@', '@\u200b')
      .replaceAll('://', ':\u200b//'),
  slack: (text) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('@', '@\u200b')
      .replaceAll('://', ':\u200b//'),
};

const lineOf = ({ kind, repository, reason }: Notice, form: NoticeForm): string => {
  const shown = (text: string) => escapes[form](plain(text));
  const subject = repository === null ? '' : `${shown(repository)} `;
  return `${subject}${sentences[kind]}${reason === null ? '.' : `: ${shown(reason)}`}`;
};

/** One text for all notices, consisting of whole lines, within the receiver's limit. */
export const composeText = (notices: readonly Notice[], form: NoticeForm, { name, base }: Teller): string => {
  const head = `${escapes[form](plain(name))}: ${base}/status/`;
  const most = longestText[form];
  const left = (count: number) => `… and ${count} more`;
  const lines = [head];
  let length = head.length;
  for (const [index, notice] of notices.entries()) {
    const line = lineOf(notice, form);
    const rest = notices.length - index;
    // Leaves room for the number of notices that are left out.
    const isLast = rest === 1;
    if (length + 1 + line.length + (isLast ? 0 : 1 + left(rest).length) > most) {
      lines.push(left(rest));
      break;
    }
    lines.push(line);
    length += 1 + line.length;
  }
  return lines.join('\n');
};

/** The JSON body of a request with these notices. */
export const composeBody = (notices: readonly Notice[], form: NoticeForm, teller: Teller, date: string): string => {
  const text = composeText(notices, form, teller);
  // Nobody is mentioned, whatever names occur, and strangers' links get no preview (flag 4, SUPPRESS_EMBEDS).
  if (form === 'discord') return JSON.stringify({ content: text, allowed_mentions: { parse: [] }, flags: 4 });
  if (form === 'slack') {
    return JSON.stringify({ text, mrkdwn: false, link_names: false, unfurl_links: false, unfurl_media: false });
  }
  const { name, base: address } = teller;
  return JSON.stringify({
    format: 1,
    date,
    service: { name, address },
    text,
    count: notices.length,
    notices,
  });
};
