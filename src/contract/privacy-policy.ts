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

// Each table in a sentence; one that tells nothing of anybody is left out.
const tableSentences = (tables: Readonly<Record<string, KeptTable>>): string[] =>
  Object.values(tables).flatMap(({ row, columns, until }) => {
    const texts = told(columns);
    return texts.length === 0 ? [] : [`of ${row}: ${texts.join(', ')}; kept ${until}`];
  });

const sent = Object.entries(formsOfPages).map(([address, what]) => `to ${address}: ${what}`);
const cookies = Object.entries(keptCookies).map(([name, { purpose }]) => `${name} ${purpose}`);
const stored = Object.values(keptInBrowser).join(', ');

/** The privacy policy, from the list of what is kept (kept.ts); page and text are both made of it. */
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
      'Nothing about you is kept while you stay within the limits below, unless the operator of this server switched on a log of requests. Without one addresses, searches and visited pages are not recorded; what the server writes down are faults of its own, without who met them, and limits that were met. No page but those for signing in sets a cookie.',
      `Of a fault it writes down: ${told(keptOfFaults).join(', ')}.`,
      `Where a log of requests is switched on, to find out what goes wrong, it holds of each request: ${told(keptOfRequests.plain).join(', ')}. Only where the operator asks for more, it also holds: ${told(keptOfRequests.full).join(', ')}. Whether there is such a log here, and how long it is kept, is for the operator of this server to say; ask at the address below.`,
      'While you type, your browser asks the server with the words that stand there so far, as part of an address of the API. Where no server answers, and where you ask for another order than that of the best match, it searches by itself, in files that it loads from here; which of them it loads lets the server guess at your words. When you send a search form, your words go to the server as part of the address of the page:',
      sent,
      'On the page of a package that was downloaded of late, your browser asks the server how often that was on each day, once the place for it comes into view.',
      'Answers to searches are held in memory for up to half a minute, to answer the same question again. They are held under the words, not under who asked.',
      'To keep one client from taking the service away from the others, the server counts requests and connections for each network address. These counts are in memory only; they are forgotten as newer ones take their place, and when the server stops.',
      `Where such a limit is met, far beyond what a person does, the server writes it down, at most once a minute for each limit, so that abuse can be found: ${told(keptOfLimits).join(', ')}. It does not write down what was asked for. How long it is kept is for the operator of this server to say; ask at the address below.`,
      `Your browser remembers, for itself and for nobody else: ${stored}.`,
      'A device that you set also stands in the address of the page that you set it on, behind the "?", so that you can share it. What runs on it your browser finds out by itself; the server sees it where such an address is opened.',
      'Pictures and package files come from the repositories themselves, and your browser or package manager asks them directly. They see your address as any web server does, but not which page you are on: no referrer is sent. Screenshots are loaded only where you press the button that names the host they come from. What they keep is for them to say.',
    ],
  },
  {
    heading: 'When your package manager reports a download',
    parts: [
      'Some package managers report what was downloaded. Of these reports the service keeps:',
      tableSentences(keptOfDownloads),
      'Where several servers count together, also:',
      tableSentences(keptOfSharedDownloads),
      'The network address itself, and the device, are not kept.',
    ],
  },
  {
    heading: 'When you sign in',
    parts: [
      'Only those who use the payment gateway of this service have an account. For them it keeps, in a database:',
      tableSentences(keptInGateway),
      'Copies of the database that the operator makes to be able to restore it hold the same, for as long as the operator keeps them.',
      `What happens to accounts and credentials is written to a security log, so that abuse can be found, and what changes who may do what to an audit log: ${told(keptInLog).join(', ')}, each where there is one. They hold no passwords, credentials or identifiers of devices. How long it is kept is for the operator of this server to say; ask at the address below.`,
      'The sign-in pages set cookies that signing in cannot do without, for this host alone, under these names or, where several services share a host, with an ending of each service:',
      cookies,
      'Where a repository sells packages, you sign in with it, and its own policy applies to what it learns.',
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

/** The policy as plain text, for package managers; `updated` is the day on which it last changed. */
export const composePolicyText = (updated: string): string => {
  const sections = privacyPolicy.map(({ heading, parts }) => {
    const texts = parts.map((part) =>
      typeof part === 'string' ? wrap(part, '  ') : part.map((item) => wrap(item, '    ', '  - ')).join('\n'),
    );
    return [heading, ...texts].join('\n\n');
  });
  return `${['Privacy policy', `Last changed on ${updated}`].join('\n')}\n\n${sections.join('\n\n')}\n`;
};
