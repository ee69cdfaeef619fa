import fs, { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composeBody, composeText } from '../../src/notifying/messages.ts';
import type { FoundRepository, Notice } from '../../src/notifying/notices.ts';
import { createNotifier } from '../../src/notifying/notifier.ts';
import { readDestination } from '../../src/notifying/receiver.ts';
import { temporaryFolder } from '../support/folder.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';

const teller = { name: 'Index', base: 'https://index.test' };
const begin = Date.parse('2026-05-01T00:00:00.000Z');

// Whoever runs tests as root may read everything.
let closed: string | undefined;
const { accessSync } = fs;
replaceFunctions(fs, {
  accessSync: (file, mode) => {
    if (file === closed) throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    accessSync(file, mode);
  },
});

let server: Server;
let state: string;
let received: { url: string; type: string | undefined; body: { notices: Notice[]; count: number; text: string } }[];
let answer: (respond: (status: number, body?: string) => void) => void;
let hour: number;

beforeEach(async () => {
  state = temporaryFolder();
  closed = undefined;
  received = [];
  hour = 0;
  answer = (respond) => respond(204);
  server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    received.push({ url: request.url ?? '', type: request.headers['content-type'], body: JSON.parse(text) });
    answer((status, body = '') => response.writeHead(status).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?secret=s3`;
const found = (slug: string, down: boolean, more: Partial<FoundRepository> = {}): FoundRepository => ({
  slug,
  aliases: [],
  down,
  isVisited: true,
  since: new Date(begin + hour * 3_600_000).toISOString(),
  code: down ? 'dns' : null,
  reason: down ? 'No such host.' : null,
  heldBack: [],
  ...more,
});
const build = (repositories: FoundRepository[], timeout = 5000): Promise<string[]> =>
  createNotifier({ destinations: [readDestination(address())], teller, deliveryMs: timeout }).tell(
    state,
    { repositories },
    new Date(begin + hour++ * 3_600_000),
  );
const fail = (reason: string, name = 'Error'): Promise<string[]> =>
  createNotifier({ destinations: [readDestination(address())], teller }).tell(
    state,
    { failure: { name, reason } },
    new Date(begin + hour++ * 3_600_000),
  );
const told = () => received.map(({ body }) => body.notices.map(({ kind, repository }) => `${repository} ${kind}`));

describe('word to the operator', () => {
  it('C4: tells once that a repository fails, when two visits found it so, and once that it recovered', async () => {
    await build([found('a', false)]);
    await build([found('a', true)]);
    expect(received).toEqual([]);
    for (let again = 0; again < 5; again++) expect(await build([found('a', true)])).toEqual([]);
    expect(told()).toEqual([['a failing']]);
    expect(received[0]?.body.notices[0]).toMatchObject({ code: 'dns', reason: 'No such host.' });
    // Receivers take nothing else for what it is.
    expect(received[0]?.type).toBe('application/json');
    for (let again = 0; again < 3; again++) await build([found('a', false)]);
    expect(told()).toEqual([['a failing'], ['a recovered']]);
  });

  it('C4: says nothing of one that fails in every other build, or that is not visited', async () => {
    await build([found('a', false), found('b', false)]);
    for (let again = 0; again < 12; again++) {
      await build([found('a', again % 2 === 0), found('b', true, { isVisited: false })]);
    }
    expect(received).toEqual([]);
    // Visits count, and not builds.
    await build([found('b', true)]);
    await build([found('b', true, { isVisited: false })]);
    expect(received).toEqual([]);
    await build([found('b', true)]);
    expect(told()).toEqual([['b failing']]);
  });

  it('C4: begins in silence about what is in trouble already, and tells of a new one that never works', async () => {
    await build([found('old', true)]);
    await build([found('old', true), found('new', true)]);
    await build([found('old', true), found('new', true)]);
    expect(told()).toEqual([['new failing']]);
  });

  it('C4: begins in silence about repositories, even if the first builds failed', async () => {
    await fail('disk', 'NoRoom');
    for (let again = 0; again < 4; again++) await build([found('old', true), found('well', false)]);
    expect(told()).toEqual([['null build-failed'], ['null build-recovered']]);
  });

  it('C4: goes on with what was told of repositories after a build that failed', async () => {
    await build([found('a', false)]);
    await fail('disk', 'NoRoom');
    for (let again = 0; again < 2; again++) await build([found('a', true)]);
    expect(told()).toEqual([['null build-failed'], ['null build-recovered', 'a failing']]);
  });

  it('C4: goes on with what was told of a repository that was renamed, also in letter case', async () => {
    const held = { heldBack: [{ code: 'signature-lost', reason: 'It is unsigned.' }] };
    await build([found('a', false), found('b', false)]);
    for (let again = 0; again < 2; again++) await build([found('a', true, held), found('b', true)]);
    const before = [['a held-back'], ['a failing', 'b failing']];
    expect(told()).toEqual(before);
    const renamed = { aliases: ['a'] };
    for (let again = 0; again < 3; again++)
      await build([found('new', true, { ...renamed, ...held }), found('B', true)]);
    expect(told()).toEqual(before);
    for (let again = 0; again < 2; again++) await build([found('new', false, renamed), found('B', false)]);
    expect(told()).toEqual([...before, ['new recovered', 'B recovered']]);
    // An alias that is the slug of another by now tells nothing of this one.
    for (let again = 0; again < 2; again++) await build([found('new', true)]);
    await build([found('new', true), found('other', false, { aliases: ['new'] }), found('third', false, renamed)]);
    await build([found('new', true), found('other', false, { aliases: ['new'] }), found('third', false, renamed)]);
    expect(told().slice(3)).toEqual([['new failing']]);
  });

  it('C4: does not report a repository as recovered while its data is held back', async () => {
    const held = { code: 'index-shrunk', heldBack: [{ code: 'index-shrunk', reason: 'It lost 9 of 10.' }] };
    await build([found('a', false)]);
    for (let again = 0; again < 2; again++) await build([found('a', true)]);
    for (let again = 0; again < 3; again++) await build([found('a', true, held)]);
    expect(told()).toEqual([['a failing'], ['a held-back']]);
    for (let again = 0; again < 2; again++) await build([found('a', false)]);
    expect(told()).toEqual([['a failing'], ['a held-back'], ['a recovered']]);
  });

  it('C4: does not report a repository as recovered of which only held back data was reported, in the first build', async () => {
    const held = { code: 'index-shrunk', heldBack: [{ code: 'index-shrunk', reason: 'It lost 9 of 10.' }] };
    await build([found('a', true, held)]);
    for (let again = 0; again < 3; again++) await build([found('a', false)]);
    expect(told()).toEqual([['a held-back']]);
  });

  it('C4: reports held back data at once and only once, and again when it returns', async () => {
    const held = { heldBack: [{ code: 'index-shrunk', reason: 'It lost 9 of 10.' }] };
    const since = '2026-04-01T00:00:00.000Z';
    await build([found('a', false, { ...held, since })]);
    await build([found('a', false, held)]);
    await build([found('a', false)]);
    await build([found('a', false, held)]);
    expect(told()).toEqual([['a held-back']]);
    // When it was found, however long the repository is as it is.
    expect(received[0]?.body.notices[0]?.since).toBe(new Date(begin).toISOString());
    // Nor once more where it is away in every other build.
    for (let again = 0; again < 3; again++) {
      await build([found('a', false)]);
      await build([found('a', false, held)]);
    }
    expect(told()).toEqual([['a held-back']]);
    await build([found('a', false)]);
    await build([found('a', false)]);
    await build([found('a', false, held)]);
    expect(told()).toEqual([['a held-back'], ['a held-back']]);
  });

  it('C4: reports held back data only as that, and not also as a failing repository', async () => {
    const held = { code: 'index-shrunk', heldBack: [{ code: 'index-shrunk', reason: 'It lost 9 of 10.' }] };
    await build([found('a', false)]);
    for (let again = 0; again < 4; again++) await build([found('a', true, held)]);
    await build([found('a', false)]);
    await build([found('a', false)]);
    expect(told()).toEqual([['a held-back']]);
    // It is between two visits that found it failing, too.
    await build([found('a', true)]);
    await build([found('a', true, held)]);
    await build([found('a', true)]);
    expect(told()).toEqual([['a held-back'], ['a held-back']]);
    await build([found('a', true)]);
    expect(told().at(-1)).toEqual(['a failing']);
  });

  it('C12: tells of a build that failed at once and once, of another failure again, and when builds work again', async () => {
    await fail('disk', 'NoRoom');
    await fail('disk', 'NoRoom');
    await build([]);
    await fail('disk', 'NoRoom');
    await fail('manifest', 'RemovalsHeld');
    await build([]);
    await build([]);
    await build([]);
    expect(told()).toEqual([['null build-failed'], ['null build-failed'], ['null build-recovered']]);
    // One that works between two that fail in the same way is no news.
    for (let again = 0; again < 3; again++) {
      await fail('disk', 'NoRoom');
      await build([]);
    }
    expect(told().slice(3)).toEqual([['null build-failed']]);
    await build([]);
    expect(told().slice(3)).toEqual([['null build-failed'], ['null build-recovered']]);
  });

  it('C12: tries again what could not be delivered, with what came since, and never fails a build for it', async () => {
    await build([found('a', false), found('b', false)]);
    await build([found('a', true), found('b', false)]);
    let kept = {};
    answer = (respond) => {
      kept = JSON.parse(readFileSync(path.join(state, 'notices.json'), 'utf8')).waiting;
      respond(500);
    };
    const [sentence = ''] = await build([found('a', true), found('b', true)]);
    // A build that is killed meanwhile has not lost it.
    expect(Object.values(kept)).toMatchObject([[{ kind: 'failing', repository: 'a' }]]);
    expect(sentence).toMatch(/^127\.0\.0\.1:\d+, could not be told, .+ answered 500/);
    expect(sentence).not.toContain('secret');
    // What is sent elsewhere arrived nowhere yet.
    answer = (respond) => respond(302);
    expect(await build([found('a', true), found('b', true)])).toEqual([expect.stringContaining('answered 302')]);
    expect(readFileSync(path.join(state, 'notices.json'), 'utf8')).not.toContain('s3');
    answer = (respond) => respond(200, 'ok');
    expect(await build([found('a', true), found('b', true)])).toEqual([]);
    expect(told().at(-1)).toEqual(['a failing', 'b failing']);
    await build([found('a', true), found('b', true)]);
    expect(received).toHaveLength(3);
  });

  it('C12: tries again for a week from when it was to be told, however old the trouble is, as where builds are weekly', async () => {
    const week = 7 * 24;
    const since = new Date(begin).toISOString();
    answer = (respond) => respond(503);
    await build([found('a', false)]);
    hour += week - 2;
    for (let again = 0; again < 2; again++) await build([found('a', true, { since })]);
    hour += week - 2;
    answer = (respond) => respond(204);
    await build([found('a', true, { since })]);
    expect(told()).toEqual([['a failing'], ['a failing']]);
    expect(received.at(-1)?.body.notices[0]).not.toHaveProperty('queued');
    answer = (respond) => respond(503);
    for (let again = 0; again < 2; again++) await build([found('a', false)]);
    const before = received.length;
    hour += week;
    await build([found('a', false)]);
    expect(received.length).toBe(before);
  });

  it('C12: repeats no address of a receiver, whatever fails there', async () => {
    await build([found('a', false)]);
    await build([found('a', true)]);
    const destination = readDestination(address());
    const { href, host } = destination.url;
    // No failure that is known says more than the host.
    Object.defineProperty(destination.url, 'origin', {
      get: () => {
        throw new Error(`${href} is wrong: ${href}`);
      },
    });
    const sentences = await createNotifier({ destinations: [destination], teller }).tell(
      state,
      { repositories: [found('a', true)] },
      new Date(begin + hour++ * 3_600_000),
    );
    expect(sentences).toEqual([`${host}, could not be told, and will be at the next build: ${host} is wrong: ${host}`]);
  });

  it('C12: never fails a build, whatever else is wrong', async () => {
    const destination = readDestination(address());
    Object.defineProperty(destination.url, 'href', {
      get: () => {
        throw new Error('odd');
      },
    });
    const notifier = createNotifier({ destinations: [destination], teller });
    const news = { failure: { name: 'Error', reason: 'No room.' } };
    expect(await notifier.tell(state, news, new Date(begin))).toEqual(['The operator could not be told: odd']);
  });

  it('C12: gives up on a receiver that never answers, never ends, or is not there, and keeps a bounded rest', async () => {
    const repositories = (down: boolean) => Array.from({ length: 400 }, (_, index) => found(`r${index}`, down));
    await build(repositories(false));
    await build(repositories(true));
    answer = () => {};
    expect(await build(repositories(true), 200)).toHaveLength(1);
    const kept = () => JSON.parse(readFileSync(path.join(state, 'notices.json'), 'utf8'));
    // The newest, since these are what the operator does not know.
    const waiting = Object.values(kept().waiting)[0] as Notice[];
    expect([waiting.length, waiting.at(-1)?.repository]).toEqual([200, 'r399']);
    answer = (respond) => respond(200, 'x'.repeat(1_000_000));
    expect((await build(repositories(true)))[0]).toContain('bytes');
    // A week later it is no news any more.
    hour += 8 * 24;
    answer = (respond) => respond(204);
    await build(repositories(true));
    expect(kept().waiting).toEqual({});
    expect(received).toHaveLength(2);
  });

  it('C12: says of several receivers which could not be told, and tells the others nothing twice', async () => {
    const other = `${address()}&other`;
    const notify = (down: boolean) =>
      createNotifier({ destinations: [address(), other].map(readDestination), teller }).tell(
        state,
        { repositories: [found('a', down)] },
        new Date(begin + hour++ * 3_600_000),
      );
    await notify(false);
    await notify(true);
    answer = (respond) => respond(received.at(-1)?.url.endsWith('other') ? 500 : 204);
    const sentences = await notify(true);
    expect(sentences).toEqual([
      expect.stringMatching(
        /^One of the receivers, 127\.0\.0\.1:\d+, could not be told, and will be at the next build/,
      ),
    ]);
    await notify(true);
    const isOther = received.map(({ url }) => url.endsWith('other'));
    expect([isOther.filter(Boolean).length, isOther.length]).toEqual([2, 3]);
  });

  it('C11: cuts a reason of strangers where it is too long, and never inside a character', async () => {
    const reasonOf = async (reason: string) => {
      await fail(reason, `Error ${reason.length}`);
      return received.at(-1)?.body.notices.at(-1)?.reason;
    };
    expect(await reasonOf('x'.repeat(500))).toBe('x'.repeat(500));
    expect(await reasonOf('x'.repeat(501))).toBe(`${'x'.repeat(499)}…`);
    expect(await reasonOf(`${'x'.repeat(498)}😀😀`)).toBe(`${'x'.repeat(498)}\ufffd…`);
  });

  it('C12: goes on if its own file is damaged', async () => {
    await build([found('a', false)]);
    writeFileSync(path.join(state, 'notices.json'), '{"format":1,"told":');
    expect(await build([found('a', false)])).toEqual([]);
    await build([found('a', true)]);
    await build([found('a', true)]);
    expect(told()).toEqual([['a failing']]);
  });

  it('C12: tells of a failure although its own file cannot be written, and says that it may do so again', async () => {
    const note = path.join(state, 'notices.json');
    // As a folder of another user would be in the way, or a full disk.
    mkdirSync(`${note}.next`);
    for (const times of [1, 2]) {
      expect(await fail('No room.')).toEqual([
        expect.stringMatching(/could not be noted, and may be told again: EISDIR/),
      ]);
      expect(received).toHaveLength(times);
    }
    expect(await build([found('a', false)])).toEqual([expect.stringContaining('could not be noted')]);
    rmdirSync(`${note}.next`);
    await fail('No room.');
    expect(await fail('No room.')).toEqual([]);
    expect(received).toHaveLength(3);
  });

  it('C12: tells of a failure although another user keeps its own file closed, and leaves that as it is', async () => {
    const note = path.join(state, 'notices.json');
    await fail('One.', 'One');
    const before = readFileSync(note, 'utf8');
    closed = note;
    for (const times of [2, 3]) {
      expect(await fail('Two.', 'Two')).toEqual([]);
      expect(received).toHaveLength(times);
    }
    expect(readFileSync(note, 'utf8')).toBe(before);
  });

  it('C12: says that it may tell again only of what is not noted after it was told', async () => {
    const inTheWay = `${path.join(state, 'notices.json')}.next`;
    answer = (respond) => {
      mkdirSync(inTheWay);
      respond(204);
    };
    expect(await fail('One.', 'One')).toEqual([expect.stringContaining('may be told again: EISDIR')]);
    answer = (respond) => {
      rmdirSync(inTheWay);
      respond(204);
    };
    expect(await fail('One.', 'One')).toEqual([]);
    expect(received).toHaveLength(2);
    expect(await fail('One.', 'One')).toEqual([]);
    expect(received).toHaveLength(2);
  });
});

describe('what receivers are sent', () => {
  const notice = (reason: string, repository = 'a'): Notice => ({
    kind: 'failing',
    repository,
    since: '2026-05-01T00:00:00.000Z',
    code: 'dns',
    reason,
  });
  const hostile =
    '@everyone <@123> <!channel> [free](https://evil.test) **x** `y`\n\u2028\u202eIndex: all is well\u0000 & more';

  it('C11: mentions nobody, links nothing and breaks no line, whatever strangers wrote', () => {
    const discord = JSON.parse(composeBody([notice(hostile)], 'discord', teller, ''));
    // Nor is a preview made of what is named there (flag 4, SUPPRESS_EMBEDS).
    expect(discord).toMatchObject({ allowed_mentions: { parse: [] }, flags: 4 });
    expect(discord.content).not.toMatch(/@everyone|(?<!\\)<|(?<!\\)\[|(?<!\\)\*|https:\/\/evil|[\u2028\u202e]|\0/);
    expect(discord.content.split('\n')).toHaveLength(2);
    const named = composeText([notice('x')], 'discord', { ...teller, name: '*Index*\n@everyone' });
    expect(named.split('\n')[0]).toBe('\\*Index\\* @\u200beveryone: https://index.test/status/');
    const slack = JSON.parse(composeBody([notice(hostile)], 'slack', teller, ''));
    expect(slack).toMatchObject({ mrkdwn: false, link_names: false, unfurl_links: false, unfurl_media: false });
    expect(slack.text).not.toMatch(/[<>]|@everyone|https:\/\/evil|\u202e|\0/);
    expect(slack.text).toContain('&lt;!channel&gt;');
    expect(slack.text).toContain('&amp; more');
    expect(JSON.parse(composeBody([notice(hostile)], 'webhook', teller, 'now'))).toMatchObject({
      format: 1,
      date: 'now',
      count: 1,
      service: { name: 'Index', address: 'https://index.test' },
      notices: [{ reason: hostile }],
    });
  });

  it('C11: is never longer than the receiver takes, and says how much is left out', () => {
    for (const count of [1, 3, 10, 50, 400]) {
      for (const length of [0, 1, 100, 499, 500]) {
        const notices = Array.from({ length: count }, (_, index) => notice('*'.repeat(length), `r${index}`));
        for (const [form, most] of [
          ['discord', 2000],
          ['slack', 4000],
          ['webhook', 4000],
        ] as const) {
          const text = composeText(notices, form, teller);
          expect(text.length).toBeLessThanOrEqual(most);
          const lines = text.split('\n').slice(1);
          const left = Number(/^… and (\d+) more$/.exec(lines.at(-1) ?? '')?.[1] ?? 0);
          expect(lines.length - (left > 0 ? 1 : 0) + left).toBe(count);
        }
      }
    }
  });

  it('C11: is told whole where it just fits', () => {
    for (const [form, most] of [
      ['discord', 2000],
      ['slack', 4000],
    ] as const) {
      const textOf = (length: number) => composeText([notice('x'.repeat(length))], form, teller);
      const longest = most - textOf(0).length;
      expect(textOf(longest)).toMatch(/\na fails: x+$/);
      expect(textOf(longest + 1)).toMatch(/\n… and 1 more$/);
    }
  });

  it('recognises the format by the host, or by the prefix of the address', () => {
    const formOf = (text: string) => readDestination(text).form;
    expect(formOf('https://discord.com/api/webhooks/1/x')).toBe('discord');
    expect(formOf('https://canary.discord.com/api/webhooks/1/x')).toBe('discord');
    expect(formOf('https://discordapp.com/api/webhooks/1/x')).toBe('discord');
    expect(formOf('https://discord.com/other/1/x')).toBe('webhook');
    expect(formOf('https://hooks.slack.com/services/x')).toBe('slack');
    expect(formOf('https://hooks.slack-gov.com/services/x')).toBe('slack');
    expect(formOf('https://hooks.slack.com.evil.test/services/x')).toBe('webhook');
    expect(formOf('https://discord.com.evil.test/api/webhooks/1')).toBe('webhook');
    expect(formOf('slack:https://mattermost.test/hooks/x')).toBe('slack');
    expect(formOf('discord:http://127.0.0.1:1/')).toBe('discord');
    for (const text of ['', 'nonsense', 'ftp://a.test/', 'slack:', 'https://user:secret@a.test/']) {
      expect(() => readDestination(text)).toThrow(RangeError);
    }
    expect(() => readDestination('https://user:secret@a.test/')).toThrow(/^(?!.*secret)/);
    for (const text of ['https://a.test/x,https://b.test/secret', 'https://a.test,https://b.test/secret']) {
      expect(() => readDestination(text), text).toThrow(
        /^must be one address: give the flag once for each(?!.*secret)/,
      );
    }
    expect(readDestination('https://a.test/x,y?click=a,https://b.test/').name).toBe('a.test');
  });
});
