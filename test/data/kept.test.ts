import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it, vi } from 'vitest';
import type { SecurityLog } from '../../functions/gateway/security-log.ts';
import { retention } from '../../functions/gateway/store/upkeep.ts';
import { clientNetwork } from '../../functions/http/client-address.ts';
import { createAccessLog } from '../../functions/node/access-log.ts';
import { createDownloads } from '../../functions/node/download-counters.ts';
import { chooseLimits } from '../../functions/node/limits.ts';
import { createRefusals, type RefusalEvent } from '../../functions/node/met-limits.ts';
import { Meter } from '../../functions/node/meter.ts';
import { createTelling } from '../../functions/node/telling.ts';
import { readService } from '../../scripts/read-service.ts';
import {
  type KeptTable,
  keptCookies,
  keptFiles,
  keptInBrowser,
  keptInGateway,
  keptInLog,
  keptOfDownloads,
  keptOfFaults,
  keptOfLimits,
  keptOfRequests,
  keptOfSharedDownloads,
} from '../../src/contract/kept.ts';
import { composePolicyText, privacyPolicy } from '../../src/contract/privacy-policy.ts';
import { createLog } from '../../src/log/log.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { unhurried } from '../support/download-counts.ts';
import { temporaryFolder } from '../support/folder.ts';
import { addAccount, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { newDatabase } from '../support/new-database.ts';
import { type OpenIdProvider, openIdClient, startOpenIdProvider } from '../support/openid-provider.ts';
import { authenticate, logIn } from '../support/package-manager.ts';
import { patience } from '../support/patience.ts';
import { describeStores } from '../support/stores.ts';
import { fakeSearch, startTestServer } from '../support/test-server.ts';

const project = path.resolve(import.meta.dirname, '..', '..');
const columnsOf = (tables: Readonly<Record<string, KeptTable>>) =>
  Object.entries(tables).flatMap(([table, { columns }]) => Object.keys(columns).map((name) => `${table}.${name}`));
const inSqlite = (file: string): string[] => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database
      .prepare(
        `SELECT tables.name || '.' || columns.name AS name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
         WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'`,
      )
      .all();
    return rows.map(({ name }) => String(name));
  } finally {
    database.close();
  }
};
const inPostgres = async (url: string): Promise<string[]> => {
  // A client and not a pool: the end of a pool does not wait for its connections, and the server may go before they do.
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public'`,
  );
  await client.end();
  return rows.map(({ name }) => String(name));
};
const readLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
// What belongs to a database beside its file.
const withoutCompanions = (names: readonly string[]) => names.filter((name) => !/-(?:wal|shm|journal)$/.test(name));

describeStores('what the gateway keeps', (newStore, kind) => {
  it('T9: is told in the privacy policy, table by table and column by column', async () => {
    const environment = await newStore();
    const gateway = await startGateway(environment);
    try {
      await addAccount(gateway.store, 'someone');
      const url = environment.GATEWAY_DATABASE_URL;
      const found = url === undefined ? inSqlite(path.join(gateway.folder, 'gateway.sqlite')) : await inPostgres(url);
      expect(found.sort(), kind).toEqual(columnsOf(keptInGateway).sort());
    } finally {
      await gateway.close();
    }
  });
});

describe('how long it is kept', () => {
  it('T9: is what the sweep of the store does', () => {
    const told = Object.entries(keptInGateway).flatMap(([table, { sweeps = [] }]) =>
      sweeps.map(({ column, age }) => ({ table, column, age })),
    );
    const order = (a: { table: string; column: string }, b: { table: string; column: string }) =>
      `${a.table} ${a.column}` < `${b.table} ${b.column}` ? -1 : 1;
    expect(retention.map(({ table, column, age }) => ({ table, column, age })).sort(order)).toEqual(told.sort(order));
  });
});

describe('what is kept of downloads', () => {
  it('T9: is told in the privacy policy, column by column', async () => {
    const folder = temporaryFolder();
    const downloads = createDownloads(path.join(folder, 'downloads.sqlite'), () => new Date(), unhurried);
    await downloads.add([{ package_id: 'com.example.one', package_version: '1' }], '192.0.2.1');
    await downloads.close();
    expect(inSqlite(path.join(folder, 'downloads.sqlite')).sort()).toEqual(columnsOf(keptOfDownloads).sort());
    for (const name of withoutCompanions(readdirSync(folder))) expect(keptFiles).toHaveProperty([name]);
  });
});

describe('what is kept of downloads where several servers count together', () => {
  it('T9: is told in the privacy policy, column by column, in the file of a server and in the database', async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'downloads.sqlite');
    const url = await newDatabase();
    const downloads = createDownloads(file, () => new Date(), unhurried, { url, tell: () => {} });
    await downloads.add([{ package_id: 'com.example.one', package_version: '1' }], '192.0.2.1');
    await downloads.close();
    const together = columnsOf(keptOfSharedDownloads).filter((name) => name.startsWith('downloads_'));
    const own = columnsOf(keptOfSharedDownloads).filter((name) => !name.startsWith('downloads_'));
    const ofMarks = columnsOf(keptOfDownloads).filter((name) => name.startsWith('mark'));
    const ofCounts = columnsOf(keptOfDownloads).filter((name) => name.startsWith('downloads'));
    expect(inSqlite(file).sort()).toEqual([...ofMarks, ...own].sort());
    expect((await inPostgres(url)).sort()).toEqual([...ofCounts, ...together].sort());
  });
});

describe('what is written down of limits', () => {
  it('T9: is told in the privacy policy, field by field, and the address as it says', () => {
    const told: RefusalEvent[] = [];
    const refusals = createRefusals(chooseLimits(), { now: () => new Date(0), tell: (event) => told.push(event) });
    refusals.count('clientRequests', clientNetwork('2001:db8:1:2:3:4:5:6'));
    refusals.end();
    expect(Object.keys(told[0] ?? {}).sort()).toEqual(Object.keys(keptOfLimits).sort());
    expect(told[0]?.client).toBe('2001:db8:1:2');
    expectTypeOf<keyof RefusalEvent>().toEqualTypeOf<keyof typeof keptOfLimits>();
  });
});

describe('what is written down of requests and faults', () => {
  const linesOf = async (accessLog: 'plain' | 'full') => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog({ level: 'debug', format: 'json', write: (text) => lines.push(...readLines(text)) });
    const { report } = createTelling(log, new Meter());
    const fail = async () => {
      throw new Error('damaged', { cause: new Error('deeply') });
    };
    const server = await startTestServer({
      overrides: { report, search: { ...fakeSearch([]), searchPackages: fail } },
      onAnswered: [createAccessLog(log, accessLog)],
    });
    await fetch(`${server.address}/v2/jailbreak/package/search?q=private`, { headers: { 'user-agent': 'Zebra' } });
    await vi.waitFor(() => {
      log.flush();
      expect(lines.map(({ event }) => event).sort()).toEqual(['fault', 'request']);
    }, patience);
    await server.close();
    const named = (event: string) => lines.find((line) => line.event === event) ?? {};
    return { fault: named('fault'), request: named('request'), text: JSON.stringify(lines) };
  };

  it('is told in the privacy policy, field by field, and no more', async () => {
    const plain = await linesOf('plain');
    expect(Object.keys(plain.request).sort()).toEqual(Object.keys(keptOfRequests.plain).sort());
    expect(plain.text).not.toMatch(/private|Zebra|127\.0\.0\.1/);
    // The codes of the system and of libraries are there where there are some.
    expect([...Object.keys(plain.fault), 'code'].sort()).toEqual(Object.keys(keptOfFaults).sort());
    const full = await linesOf('full');
    const fields = [...Object.keys(keptOfRequests.plain), ...Object.keys(keptOfRequests.full)];
    expect(Object.keys(full.request).sort()).toEqual(fields.sort());
    expect(full.request).toMatchObject({ query: 'q=private', agent: 'Zebra', address: '127.0.0.1' });
    expect(full.fault.request).toBe(full.request.request);
  });
});

describe('a sign-in', () => {
  const site = 'http://gateway.test';
  let provider: OpenIdProvider;
  let gateway: TestGateway;
  /** Every Set-Cookie header that an answer had. */
  const cookies: string[] = [];

  beforeAll(async () => {
    provider = await startOpenIdProvider(`${site}/v2/login/callback`);
    gateway = await startGateway(
      {
        PUBLIC_ADDRESS: site,
        GATEWAY_OIDC_ISSUER: provider.issuer,
        GATEWAY_OIDC_CLIENT_ID: openIdClient.id,
        GATEWAY_OIDC_CLIENT_SECRET: openIdClient.secret,
      },
      { now: Date.now() },
    );
    await addAccount(gateway.store, 'someone');
    const usual = globalThis.fetch;
    globalThis.fetch = async (...request) => {
      const answer = await usual(...request);
      cookies.push(...answer.headers.getSetCookie());
      return answer;
    };
    try {
      const browser = new BrowserSession(gateway.base);
      await browser.submit(await browser.open(await authenticate(gateway.base)), {
        name: 'someone',
        password: 'wrong',
      });
      await logIn(await authenticate(gateway.base), 'someone', browser);
      await browser.open(`${site}/v2/devices`);
      const page = await browser.open(await authenticate(gateway.base));
      const link = /<a class="button quiet" href="([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
      await browser.open(new URL(link, page.address).href);
    } finally {
      globalThis.fetch = usual;
    }
  });
  afterAll(async () => {
    await gateway.close();
    await provider.close();
  });

  it('T9: sets the cookies that the privacy policy names, for as long as it says', () => {
    const found = new Map(
      cookies.map((cookie) => [
        /^(?:__Host-)?([^=]+)=/.exec(cookie)?.[1] ?? '',
        Number(/Max-Age=(\d+)/i.exec(cookie)?.[1] ?? Number.NaN),
      ]),
    );
    expect([...found.keys()].sort()).toEqual(Object.keys(keptCookies).sort());
    for (const [name, life] of found) expect(life, name).toBe(keptCookies[name]?.life ?? Number.NaN);
  });

  it('T9: writes to the log and to files what the privacy policy names, and nothing else', () => {
    const fields = new Set(gateway.log.flatMap((line) => Object.keys(JSON.parse(line))));
    expect(gateway.log.length).toBeGreaterThan(1);
    for (const field of fields) expect(keptInLog).toHaveProperty(field);
    for (const name of withoutCompanions(readdirSync(gateway.folder))) expect(keptFiles).toHaveProperty([name]);
    // The compiler tells of a field that no test happens to see.
    type Fields = keyof Parameters<SecurityLog>[0];
    expectTypeOf<Exclude<Fields, keyof typeof keptInLog>>().toBeNever();
    expectTypeOf<Exclude<Exclude<keyof typeof keptInLog, 'time' | 'channel'>, Fields>>().toBeNever();
  });
});

describe('what the code can keep elsewhere', () => {
  const sources = (folder: string): [string, string][] =>
    readdirSync(path.join(project, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|astro)$/.test(name))
      .map((name) => [`${folder}/${name}`, readFileSync(path.join(project, folder, name), 'utf8')]);

  it('T9: is, in the browser, what the privacy policy names', () => {
    const found = sources('src').flatMap(([name, text]) =>
      [...text.matchAll(/(?:localStorage|sessionStorage)\.(\w+)\(\s*'([^']+)'/g)].map(([, , key]) => ({ name, key })),
    );
    expect([...new Set(found.map(({ key }) => key))].sort()).toEqual(Object.keys(keptInBrowser).sort());
    for (const [name, text] of sources('src')) {
      const uses = text.match(/\b(?:localStorage|sessionStorage)\b/g) ?? [];
      expect(found.filter((one) => one.name === name).length, `${name} names each key in words`).toBe(uses.length);
      expect(text, name).not.toMatch(/document\.cookie|indexedDB|caches\.open/);
      // What a session's storage holds is gone with the tab, not with the browser.
      for (const [, key = ''] of text.matchAll(/sessionStorage\.setItem\(\s*'([^']+)'/g))
        expect(keptInBrowser[key], key).toContain('close the tab');
    }
  });

  it('T9: is set as a cookie in one place alone', () => {
    const setting = sources('functions').filter(([, text]) =>
      /(?<!get)setCookie\(|(?<!\.(?:has|get)\('|!== ')set-cookie/i.test(text),
    );
    expect(setting.map(([name]) => name)).toEqual(['functions/gateway/browser-cookies.ts']);
  });
});

describe('the privacy policy', () => {
  const text = composePolicyText(readService().privacy_updated);

  it('T9: is dated as the landing document does, because clients ask again when that changes', () => {
    expect(text).toContain(`Last changed on ${readService().privacy_updated}\n`);
  });

  it('fits a screen of eighty columns, and leaves out no word', () => {
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    const words = (each: string) => each.split(/\s+/).filter((word) => word !== '' && word !== '-');
    const expected = privacyPolicy.flatMap(({ heading, parts }) => [heading, ...parts.flat()]).flatMap(words);
    expect(words(text).slice(-expected.length)).toEqual(expected);
  });

  it('T9: tells of everything on the list', () => {
    const whole = privacyPolicy.flatMap(({ parts }) => parts.flat()).join('\n');
    const told = [
      ...[keptInGateway, keptOfDownloads, keptOfSharedDownloads].flatMap((tables) =>
        Object.values(tables).flatMap(({ columns }) => Object.values(columns)),
      ),
      ...Object.values(keptInLog),
      ...Object.values(keptOfLimits),
      ...Object.values(keptOfFaults),
      ...Object.values(keptOfRequests).flatMap((fields) => Object.values(fields)),
      ...Object.keys(keptCookies),
      ...Object.values(keptInBrowser),
    ];
    for (const each of told) if (each !== null) expect(whole).toContain(each);
  });
});
