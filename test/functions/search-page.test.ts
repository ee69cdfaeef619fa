import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fieldMarkup, places } from '../../src/results/search-page.ts';
import { type BuiltServer, serveBuild } from '../support/built.ts';
import { packages } from '../support/catalog.ts';
import { openWire } from '../support/wire.ts';

const hostile = `"><img src=x onerror=alert(1)>'$&$1</title><script>alert(2)</script>\u202egpj`;
const stanzas = Array.from({ length: 70 }, (_, number) => ({
  Package: `com.example.snow${number}`,
  Name: `Snow ${String(number).padStart(2, '0')}`,
  Section: number % 2 === 0 ? 'Tweaks (iOS 15)' : 'Themes',
  Architecture: number % 3 === 0 ? 'iphoneos-arm' : 'iphoneos-arm64',
  Tag: number % 7 === 0 ? 'cydia::commercial' : undefined,
}));
const built = `<html><head><title>Search · Debdex</title><link rel="canonical" href="https://index.example/search/"></head>
<body><details id="device-bar"></details><form data-stale="two" data-held="three" data-unsafe="four" data-alike="three none" data-served="=three">${fieldMarkup()}</form>${places.facets}
<select name="section"><option value="">Any</option><option value="themes">Themes</option></select>
<select name="price"><option value="">Any</option><option value="paid">Paid</option></select>
<select name="sort"><option value="">Best match</option><option value="name">Name</option></select></details>
<noscript><p>No scripts.</p></noscript>${Object.values(places).slice(1).join('')}</div></div></body></html>`;

let server: BuiltServer;
let wire: ReturnType<typeof openWire>;
let admits = 0;
let wait = 0;
let fails = false;
let held: Promise<void> | undefined;
let underWay = 0;
let below = 'https://index.example';
beforeAll(async () => {
  server = await serveBuild(
    [
      {
        slug: 'one',
        packages: packages(
          ...stanzas,
          { Package: 'com.example.evil', Name: hostile, Description: hostile, Version: '1~beta2' },
          { Package: 'com.example.twice', Name: 'Double', Architecture: 'iphoneos-arm' },
          { Package: 'com.example.twice', Name: 'Double', Architecture: 'iphoneos-arm64' },
        ),
      },
      {
        slug: 'three',
        packages: packages(
          { Package: 'manual', Name: 'Gazette Manual', Architecture: 'all' },
          { Package: 'server', Name: 'Gazette Server', Architecture: 'amd64' },
        ),
      },
      { slug: 'four', packages: packages({ Package: 'com.four.quartz', Name: 'Quartz' }) },
      { slug: 'two', isStale: true, packages: packages({ Package: 'com.other.stale', Name: 'Stale Flake' }) },
    ],
    {
      overrides: {
        publicAddress: () => below,
        limiter: {
          take: () => {
            admits++;
            return wait;
          },
        },
      },
    },
  );
  const { searchPackages } = server.search;
  server.search.searchPackages = async (...question) => {
    if (fails) throw new Error('the index is away');
    if (held !== undefined && question[4] !== undefined) {
      underWay++;
      await held;
    }
    return searchPackages.apply(server.search, question);
  };
  server.write('search/index.html', built);
  wire = openWire(server.port);
});
afterAll(async () => {
  wire.close();
  await server.close();
});

const ask = async (query: string, method = 'GET') => {
  const answer = await fetch(`${server.address}/search/${query}`, { method });
  const html = await answer.text();
  const rows = [...html.matchAll(/<li(?: class="part")?><div class="row".*?<\/div><\/li>/gs)].map(([row]) => row);
  const names = rows.map((row) => /class="name"[^>]*>([^<]*)</.exec(row)?.[1]);
  return { status: answer.status, headers: answer.headers, html, rows, names };
};

describe('C14: the page of the search', () => {
  it('H6: sorted, waits for its place as a large answer does', async () => {
    const gate = Promise.withResolvers<void>();
    held = gate.promise;
    const sorted = Array.from({ length: 6 }, () => fetch(`${server.address}/search/?q=snow&sort=name`));
    await expect.poll(() => underWay).toBe(4);
    expect((await fetch(`${server.address}/search/?q=snow`)).status).toBe(200);
    expect(underWay).toBe(4);
    gate.resolve();
    expect((await Promise.all(sorted)).map(({ status }) => status)).toEqual(sorted.map(() => 200));
    held = undefined;
  });

  it('is sent with its results, for caches to keep a moment and for no index to list', async () => {
    const { status, headers, html, names } = await ask('?q=snow+0');
    expect(status).toBe(200);
    expect(names.slice(0, 3)).toEqual(['Snow 00', 'Snow 01', 'Snow 02']);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('public, max-age=30, s-maxage=60');
    expect(headers.get('access-control-allow-origin')).toBe(null);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(html).toContain('<meta name="robots" content="noindex">');
    expect(html).not.toMatch(/canonical|noscript/);
    expect(html).toContain('<title>snow 0 · Search · Debdex</title>');
    expect(html).toContain(fieldMarkup('snow 0'));
    expect(html).toMatch(/data-answered>10 packages, and more with all words but one<\/p>/);
    expect((await ask('?q=double')).html).toMatch(/data-answered>1 package<\/p>/);
    expect(html).toContain(places.nothing);
  });

  it('tells what has but a part of the question from what has all of it, on its first page, and is silent on others', async () => {
    const { rows, html } = await ask('?q=snow+0');
    const parts = rows.map((row) => row.startsWith('<li class="part">'));
    expect(parts.slice(0, 10).includes(true)).toBe(false);
    expect(parts.slice(10)).toEqual(Array.from({ length: 22 }, () => true));
    const second = await ask('?q=snow+0&page=2');
    expect(second.rows.length).toBe(32);
    expect(html + second.html).not.toMatch(/No package has all|<p id="fit" class="note weak">/);
    expect((await ask('?q=snow+zzzzqq')).html).toMatch(/<p id="fit" class="note weak">No package has all/);
    expect((await ask('?q=snow+zzzzqq&page=2')).html).not.toContain('No package has all');
  });

  it('names a repository with its slug where the page says that another has its name', async () => {
    expect((await ask('?q=gazette')).rows.join('')).toMatch(/class="place" dir="auto">[^<]+ \(three\)</);
    expect((await ask('?q=double')).rows.join('')).not.toMatch(/class="place" dir="auto">[^<]*\(/);
  });

  it('is the file where nothing is asked', async () => {
    for (const query of ['', '?q=', '?q=+', '?section=themes']) expect((await ask(query)).html, query).toBe(built);
    const { headers } = await ask('');
    expect(headers.get('etag')).not.toBe(null);
  });

  it('has one row for a package, with all its builds', async () => {
    const { rows } = await ask('?q=double');
    expect(rows.length).toBe(1);
    expect(rows[0]).toContain('title="Rootful, Rootless"');
    expect(rows[0]).toContain('data-runs="rootful;rootless"');
  });

  it('takes what is for all architectures for a device only where its repository serves devices', async () => {
    expect((await ask('?q=gazette&architecture=amd64')).names.sort()).toEqual(['Gazette Manual', 'Gazette Server']);
    const none = await ask('?q=gazette&architecture=iphoneos-arm64');
    expect([none.names, none.html.includes('Nothing fits what is chosen.')]).toEqual([[], true]);
  });

  it('says to browsers that run no scripts that what is told of a device needs them', async () => {
    const note = '<noscript><p class="note weak">Which of these run on your iPhone';
    expect((await ask('?q=snow&ios=16.7&build=rootless')).html).toContain(note);
    expect((await ask('?q=snow')).html).not.toContain('<noscript>');
  });

  it('pages, and narrows by what the index knows and by what the page does', async () => {
    const first = await ask('?q=snow');
    expect(first.names.length).toBe(32);
    expect(first.html).toContain('At least 32 packages');
    const [, next = ''] = /<a class="button" href="\/search\/([^"]+)" rel="next">/.exec(first.html) ?? [];
    const second = await ask(next.replaceAll('&amp;', '&'));
    expect(second.names[0]).toBe('Snow 32');
    expect(second.html).toContain('rel="prev"');
    const behind = await ask('?q=snow&page=9&price=');
    expect(behind.html).toContain('There are no more packages.');
    expect(behind.html).toContain('<a class="button" href="/search/?q=snow&amp;page=3" rel="prev">Previous</a>');
    const narrowed = await ask('?q=snow&section=Themes&price=paid&repository=one&architecture=iphoneos-arm64');
    expect(narrowed.names).toEqual(['Snow 07', 'Snow 35', 'Snow 49']);
    expect(narrowed.html).toContain('<option value="themes" selected>');
    expect(narrowed.html).toContain('<option value="paid" selected>');
    // What is chosen is folded away.
    const count = (html: string) => /<span class="chip" id="chosen-count"( hidden)?>(.*?)<\/span>/.exec(html)?.slice(1);
    expect(count(narrowed.html)).toEqual([undefined, '4 chosen']);
    expect(count((await ask('?q=snow&sort=name')).html)).toEqual([undefined, '1 chosen']);
    expect(count(first.html)).toEqual([' hidden', '']);
    const { names, rows } = await ask('?q=stale&state=stale');
    expect(names).toEqual(['Stale Flake']);
    expect(rows[0]).toContain('>In trouble</span><span class="place"');
    expect((await ask('?q=gazette')).rows[0]).toContain('>Held back</span><span class="place"');
    expect((await ask('?q=quartz')).rows[0]).toContain('>Unsafe</span><span class="place"');
    expect((await ask('?q=double')).rows[0]).not.toMatch(/In trouble|Held back/);
    expect((await ask('?q=stale&state=current')).html).toContain(places.nothing.replace(' hidden', ''));
    expect((await ask('?q=beta+alert&state=pre-release')).rows.length).toBe(1);
    // What the page does not offer is as if it were not chosen.
    const strange = await ask('?q=double&section=none&state=gone&price=cheap&sort=oldest');
    expect([strange.names, strange.html.includes('Nothing fits what')]).toEqual([['Double'], false]);
    // Slugs are as they are written.
    expect((await ask('?q=double&repository=one')).names).toEqual(['Double']);
    const unknown = await ask('?q=double&repository=ONE');
    expect([unknown.names, unknown.html.includes('Nothing fits what')]).toEqual([[], true]);
    expect((await ask('?q=snow&architecture=Iphoneos-Arm64')).status).toBe(400);
    const loud = await ask('?q=snow&section=THEMES&price=PAID&sort=Name');
    expect([...loud.html.matchAll(/<option value="(\w+)" selected>/g)].map(([, value]) => value)).toEqual([
      'themes',
      'paid',
      'name',
    ]);
  });

  it('finds what was chosen behind whatever comes before it, and says where it is what was chosen that nothing fits', async () => {
    const themes = await ask('?q=snow&section=themes');
    expect([themes.names.length, themes.html.includes('At least 32 packages')]).toEqual([32, true]);
    const rest = await ask('?q=snow&section=themes&page=2');
    expect([rest.names.length, rest.html.includes('rel="next"')]).toEqual([3, false]);
    const none = await ask('?q=double&section=themes&repository=&sort=');
    expect(none.html).toContain(
      '>Nothing fits what is chosen. <a class="without-script" href="/search/?q=double">Search without it</a></p>',
    );
    const sorted = await ask('?q=double&section=themes&sort=name');
    expect(sorted.html).toMatch(/ href="\/search\/\?q=double&amp;[^"]*sort=name">Search without it/);
    const { html } = await ask('?q=zzzzqq');
    expect([html.includes('Nothing fits what'), html.includes(' data-answered>0 packages</p>')]).toEqual([false, true]);
  });

  it('has them in the order that is asked for, on every page, and those last that have a part of the question', async () => {
    const byName = await ask('?q=snow&sort=name&section=&repository=&architecture=&price=&state=');
    expect(byName.names).toEqual(byName.names.toSorted());
    expect(byName.html).toContain('<option value="name" selected>');
    expect(byName.html).toContain('>At least 32 packages</p>');
    expect(/<a class="button" href="\/search\/([^"]+)" rel="next">/.exec(byName.html)?.[1]).toContain(
      '&amp;sort=name&',
    );
    expect((await ask('?q=snow&sort=name&page=2')).names[0]).toBe('Snow 32');
    const parts = await ask('?q=double+com.example&sort=name');
    expect(parts.names[0]).toBe('Double');
    const some = await ask('?q=snow+07&sort=name');
    expect(some.html).toContain('1 package, and more with all words but one');
    expect(some.rows.map((row) => row.startsWith('<li class="part">'))).toEqual(some.rows.map((_, index) => index > 0));
  });

  it('says what a mistyped question was taken for, and where a word was left out', async () => {
    const corrected = await ask('?q=doubel');
    expect(corrected.names).toEqual(['Double']);
    expect(corrected.html).toContain('Did you mean <a href="/search/?q=Double" dir="auto">Double</a>?');
    expect((await ask('?q=double+zzzzqq')).html).toContain('all but one of them');
    expect((await ask('?q=oubl')).html).toContain(places.fit);
  });

  it('C11: text full of markup is text', async () => {
    const evil = await ask(`?q=${encodeURIComponent('alert')}`);
    expect(evil.rows.length).toBe(1);
    const echoed = await ask(`?q=${encodeURIComponent(hostile)}`);
    for (const { html } of [evil, echoed]) {
      expect(html).not.toMatch(/<img src=x|<script>alert/);
      expect(html.match(/<\/title>/g)?.length).toBe(1);
    }
    expect(echoed.html).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;$&amp;$1&lt;/title&gt;');
  });

  it('C14: takes the limits of the API, and says on the page why it does not answer', async () => {
    const before = admits;
    await ask('');
    expect(admits).toBe(before);
    const long = await ask(`?q=${'x'.repeat(257)}`);
    expect(long.status).toBe(400);
    expect(long.html).toContain('>Type 256 characters at most.</p>');
    expect((await ask('?q=%20x')).html).toContain('>Type one more character.</p>');
    expect(long.html).toContain('<noscript>');
    expect((await ask('?q=a&q=b')).status).toBe(400);
    // Bytes that are no text, too.
    for (const query of ['?q=%E0%A4%A', '?q=%ff']) {
      const { status, headers, html } = await ask(query);
      expect([status, headers.get('content-type')], query).toEqual([400, 'text/html; charset=utf-8']);
      expect(html, query).toMatch(/must be percent-encoded UTF-8\.<\/p>/);
    }
    const refused = await ask('?q=snow&architecture=A%20B&section=themes&price=PAID&sort=name');
    expect(refused.status).toBe(400);
    for (const kept of [
      'value="snow"',
      '<option value="themes" selected>',
      '<option value="paid" selected>',
      '<option value="name" selected>',
    ]) {
      expect(refused.html).toContain(kept);
    }
    wait = 7;
    const busy = await ask('?q=snow');
    wait = 0;
    expect([busy.status, busy.headers.get('retry-after'), busy.headers.get('cache-control')]).toEqual([
      429,
      '7',
      'no-store',
    ]);
    expect(busy.html).toContain('try again in 7 s.</p>');
    fails = true;
    const away = await ask('?q=flake');
    fails = false;
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
    expect(away.html).toContain('try again in a minute.</p>');
    expect(server.faults.length).toBe(1);
    server.faults.length = 0;
  });

  it('repeats no control character of a question, found or refused, and finds the same without', async () => {
    const { html, names } = await ask('?q=%00snow%1b0%C2%85');
    expect(names).toEqual((await ask('?q=snow+0')).names);
    const refused = await ask('?q=%00');
    expect(refused.status).toBe(400);
    expect(html + refused.html).not.toMatch(/(?!\n)\p{Cc}/u);
    expect(html).toContain(' value=" snow 0 "');
  });

  it('answers HEAD, and no method that would change something', async () => {
    const head = await ask('?q=snow', 'HEAD');
    expect([head.status, head.html]).toEqual([200, '']);
    expect((await ask('?q=snow', 'POST')).status).toBe(405);
  });

  it('lies below a path where everything does', async () => {
    below = 'https://index.example/debdex';
    const { html } = await ask('?q=doubel');
    below = 'https://index.example';
    expect(html).toContain('href="/debdex/package/com.example.twice/"');
    expect(html).toContain('href="/debdex/search/?q=Double"');
  });
});
