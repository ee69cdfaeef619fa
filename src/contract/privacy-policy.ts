import {
  formsOfPages,
  type KeptTable,
  keptCookies,
  keptInBrowser,
  keptInGateway,
  keptInLog,
  keptOfDownloads,
  keptOfFaults,
  keptOfLimits,
  keptOfRequests,
  keptOfSharedDownloads,
} from './kept.ts';

/** A part of the policy: paragraphs and lists, in order. */
export interface PolicySection {
  readonly heading: string;
  readonly parts: readonly (string | readonly string[])[];
}

const told = (columns: Readonly<Record<string, string | null>>): string[] =>
  Object.values(columns).filter((text) => text !== null);

// A sentence for each table, except those that say nothing about anybody.
const tableSentences = (tables: Readonly<Record<string, KeptTable>>): string[] =>
  Object.values(tables).flatMap(({ row, columns, until }) => {
    const texts = told(columns);
    return texts.length === 0 ? [] : [`of ${row}: ${texts.join(', ')}; kept ${until}`];
  });

const sent = Object.entries(formsOfPages).map(([address, what]) => `to ${address}: ${what}`);
const cookies = Object.entries(keptCookies).map(([name, { purpose }]) => `${name} ${purpose}`);
const stored = Object.values(keptInBrowser).join(', ');

/** The privacy policy, from the list of what is kept (kept.ts). Both the page and the text are made of it. */
export const privacyPolicy: readonly PolicySection[] = [
  {
    heading: 'In short',
    parts: [
      'This service lists software that other people offer in public APT repositories. You can read and search all of it without an account. There is no advertising, no analytics and no tracker. Below is everything that it keeps.',
    ],
  },
  {
    heading: 'When you read or search',
    parts: [
      'Nothing about you is kept while you stay within the limits below, unless the operator of this server has switched on a log of requests. Without that log, addresses, searches and visited pages are not recorded; the server writes down only faults of its own, without who met them, and limits that were met. Only the pages for signing in set cookies.',
      `Of a fault the server writes down: ${told(keptOfFaults).join(', ')}.`,
      `A log of requests, which helps to find out what goes wrong, holds of each request: ${told(keptOfRequests.plain).join(', ')}. Only if the operator asks for more, it also holds: ${told(keptOfRequests.full).join(', ')}. The operator of this server decides whether there is such a log and how long it is kept; ask at the address below.`,
      'While you type in a search field, your browser sends the words so far to the server, as part of an address of the API, and their first two letters as the name of a file; on the page of the search also what you narrow the results to, and the order that you choose. If no server answers, your browser searches by itself, in files that it loads from here; from which files these are, the server could guess your words. The page of the search keeps your words, and what you chose, in its own address, so that you can come back to it or share it; the server sees it when that address is opened. When you send a search form, your words go to the server as part of the address of the page:',
      sent,
      'The page of a package that was downloaded recently shows how often that was on each day. Your browser asks the server for these numbers when that part of the page comes into view.',
      'Answers to searches stay in memory, to answer the same search again for up to half a minute; after that they are deleted when another answer is stored. They are stored by the words, not by who asked.',
      'So that no client can take the service away from the others, the server counts requests and connections for each network address. These counts are in memory only; they are forgotten as newer ones take their place, and when the server stops.',
      `If such a limit is met, the server writes that down, at most once a minute for each limit, so that abuse can be found: ${told(keptOfLimits).join(', ')}. The limits are far beyond what a person does, but a connection that stands still in the middle of a request or of a long answer meets one. It does not write down what was asked for. The operator of this server decides how long these lines are kept; ask at the address below.`,
      `Only your browser remembers: ${stored}. With its history it also keeps how far down a list of results you were.`,
      'If you set a device, it also stands in the address of that page, after the "?", so that you can share it. Your browser finds out by itself what runs on the device; the server sees the device only when such an address is opened. That you have set one, but not which, it could tell from the files that your browser loads.',
      'Your browser or package manager loads pictures and package files directly from the repositories, or from other hosts that these name. Like any web server, these see your address and what is loaded, which may tell them the package; no referrer is sent, which would name the page that you are on. Screenshots are loaded only when you press the button that names the host they come from, or the first of several. What these hosts keep is for them to say.',
    ],
  },
  {
    heading: 'When your package manager reports a download',
    parts: [
      'Some package managers report what was downloaded. Of these reports the service keeps:',
      tableSentences(keptOfDownloads),
      'If several servers count together, it also keeps:',
      tableSentences(keptOfSharedDownloads),
      'The network address itself, and the device, are not kept.',
    ],
  },
  {
    heading: 'When you sign in',
    parts: [
      'Only those who use the payment gateway of this service have an account. For them it keeps, in a database:',
      tableSentences(keptInGateway),
      'Backups of the database hold the same, for as long as the operator keeps them.',
      `What happens to accounts and credentials is written to a security log, so that abuse can be found. Changes of who may do what are written to an audit log. Both hold, where there is one: ${told(keptInLog).join(', ')}. They hold no passwords, credentials or identifiers of devices. The operator of this server decides how long they are kept; ask at the address below.`,
      'The sign-in pages set only cookies that signing in needs, for this host alone. If several services share the host, each adds an ending to these names:',
      cookies,
      'If a repository sells packages, you sign in with that repository, and its own policy applies to what it learns.',
    ],
  },
  {
    heading: 'What repositories publish',
    parts: [
      'Names, addresses and descriptions of packages, with their authors and maintainers, are shown as repositories publish them. If you want yours corrected or taken out, change the repository, or write to the address below.',
    ],
  },
  {
    heading: 'Who else sees it',
    parts: [
      'Nobody. Nothing is sold, shared or used for advertising. Whoever runs a copy of this service, or puts a network or cache in front of it, may keep more than this page says and must say so here.',
    ],
  },
  {
    heading: 'Your rights, and whom to ask',
    parts: [
      'You may ask what is kept about you, have it corrected, or have it deleted. The address to write to is contact_email in the document at /v2/ of this host. When this policy changes, the date above changes, and with it privacy_updated in the same document.',
    ],
  },
];

const width = 78;

const wrap = (text: string, indent: string, first = indent): string => {
  const lines: string[] = [];
  let line = first;
  for (const word of text.split(' ')) {
    const isStart = line === first || line === indent;
    if (!isStart && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else line += isStart ? word : ` ${word}`;
  }
  return [...lines, line].join('\n');
};

/** The policy as plain text, for package managers. `updated` is the day on which it last changed. */
export const composePolicyText = (updated: string): string => {
  const sections = privacyPolicy.map(({ heading, parts }) => {
    const texts = parts.map((part) =>
      typeof part === 'string' ? wrap(part, '  ') : part.map((item) => wrap(item, '    ', '  - ')).join('\n'),
    );
    return [heading, ...texts].join('\n\n');
  });
  return `${['Privacy policy', `Last changed on ${updated}`].join('\n')}\n\n${sections.join('\n\n')}\n`;
};
