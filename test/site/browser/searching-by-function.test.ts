import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { phone, useSiteInBrowser } from './site-in-browser.ts';

const site = useSiteInBrowser();

describe('searching where the function answers', () => {
  const names = (page: Page) => page.locator('#results .name:visible').allTextContents();
  const watch = (page: Page): string[] => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    return asked;
  };
  const api = '**/v2/jailbreak/package/search**';
  // But for icons, which go where they do not load.
  const markupOf = (rows: readonly { readonly outerHTML: string }[]) =>
    rows.map((row) => row.outerHTML.replace(/<img[^>]*>/g, ''));

  it('asks the API as one types, and nothing of the files', async () => {
    const page = await site.openPatient('/search/');
    const asked = watch(page);
    const field = page.getByRole('searchbox');
    await field.pressSequentially('snowboard', { delay: 60 });
    await expect.poll(() => names(page)).toContain('SnowBoard');
    // Spelling, the inside of words and all words but one are the index's to forgive.
    await field.fill('snwoboard');
    await page.locator('#fit a', { hasText: 'SnowBoard' }).waitFor();
    await page.evaluate('{ const now = Date.now; Date.now = () => now() - 3_600_000; }');
    await field.fill('owboar');
    await expect.poll(() => names(page)).toEqual(['SnowBoard']);
    await field.fill('snowboard zzzzqq');
    await expect.poll(() => page.locator('#fit').textContent()).toMatch(/all but one/);
    expect(await names(page)).toEqual(['SnowBoard']);
    expect(asked.filter((name) => name === '/v2/jailbreak/package/search').length).toBeGreaterThan(3);
    // A rest that the clock of an hour ago would let last that long.
    await page.evaluate("sessionStorage.setItem('index-away', String(Date.now() + 7_200_000))");
    await page.goto(`${site.computing.address}/search/`);
    await field.fill('owboar');
    await expect.poll(() => names(page)).toEqual(['SnowBoard']);
    expect(asked.filter((name) => name.startsWith('/search-index/'))).toEqual([]);
  });

  it('puts a line before what has but a part of the question, and counts it apart', async () => {
    const page = await site.openPatient('/search/');
    const lines = () =>
      page.evaluate<string[]>(
        'Array.from(document.querySelectorAll("#results > li"), (item) => getComputedStyle(item, "::before").content)',
      );
    for (const isSent of [false, true]) {
      if (isSent) await page.goto(`${site.computing.address}/search/?q=many+001`);
      else await page.getByRole('searchbox').fill('many 001');
      const status = page.locator('#search-status');
      await expect.poll(() => status.textContent()).toMatch(/^1 package, and (?:more|\d+) with all words but one$/);
      const [first, second, ...others] = await lines();
      expect([first, second, ...new Set(others)]).toEqual(['none', '"With all words but one"', 'none']);
    }
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => page.locator('#results .row').count()).toBeGreaterThan(32);
    expect((await lines()).filter((line) => line !== 'none')).toHaveLength(1);
    // Where none has all of it, the page says so above the list, also where none of them is for the device.
    await page.goto(`${site.computing.address}/search/?q=many+zzzzqq&ios=16&build=rootful`);
    await page.locator('#results > .misfits').waitFor();
    expect(new Set(await lines())).toEqual(new Set(['none']));
    await page.goto(`${site.computing.address}/search/?q=many+001&ios=16&build=rootful`);
    await page.locator('#results > .misfits').waitFor();
    expect((await lines()).slice(0, 4)).toEqual(['none', 'none', '"With all words but one"', 'none']);
  });

  // In the page itself: what the browser tells of it comes late where a machine is busy.
  const counting = `
    const ask = window.fetch;
    let underWay = 0;
    window.mostAtOnce = 0;
    window.fetch = async (...request) => {
      if (!String(request[0]).includes('/package/search')) return ask(...request);
      window.mostAtOnce = Math.max(window.mostAtOnce, ++underWay);
      try {
        return await ask(...request);
      } finally {
        underWay--;
      }
    };`;

  it('asks one question at a time, and the last one is answered', async () => {
    const page = await site.openPatient('/search/');
    await page.evaluate(counting);
    await page.getByRole('searchbox').focus();
    const held: Promise<unknown>[] = [];
    await page.route(api, (route) => {
      held.push(new Promise((resolve) => setTimeout(resolve, 150)).then(() => route.continue().catch(() => {})));
    });
    await page.keyboard.type('snowboard');
    await expect.poll(() => names(page)).toEqual(['SnowBoard']);
    await Promise.all(held);
    // Of nine keys at once few are asked at all.
    expect(held.length).toBeLessThan(9);
    // One that is given up ends when the next has begun.
    const most = await page.evaluate<number>('mostAtOnce');
    expect([1, 2]).toContain(most);
  });

  it('answers what is asked while what can be chosen of the answer before is about to be counted', async () => {
    const page = await site.openPatient('/search/');
    // So long that the next question comes in between.
    await page.evaluate(
      '{ const set = window.setTimeout; window.setTimeout = (run, wait, ...more) => set(run, wait === 300 ? 1500 : wait, ...more); }',
    );
    const { promise: counted, resolve: release } = Promise.withResolvers<void>();
    await page.route(api, async (route) => {
      if (route.request().url().includes('q=snowboard')) await counted;
      await route.continue().catch(() => {});
    });
    // More than one answer tells, so that counting takes a request of its own.
    await page.getByRole('searchbox').fill('many');
    await page.locator('#more').waitFor();
    await page.getByRole('searchbox').fill('snowboard');
    await expect.poll(() => page.locator('#search-status').textContent()).toBe('Searching…');
    release();
    await expect.poll(() => names(page)).toEqual(['SnowBoard']);
  });

  it('the files answer where the function answers no list, is down or does not answer in time, and it is left alone then', async () => {
    const page = await site.openAnother('/about/', {}, site.computing.address);
    let asked = 0;
    let fail: object | undefined;
    // Not by a route of the page, which has nothing cached: each page would load the files anew.
    const devTools = await page.context().newCDPSession(page);
    devTools.on('Fetch.requestPaused', ({ requestId }) => {
      asked++;
      if (fail === undefined) return;
      const method = 'errorReason' in fail ? 'Fetch.failRequest' : 'Fetch.fulfillRequest';
      devTools.send(method, { requestId, ...fail } as never).catch(() => {});
    });
    await devTools.send('Fetch.enable', { patterns: [{ urlPattern: '*/v2/jailbreak/package/search*' }] });
    const answer = (responseCode: number, type: string, body: string, more: Record<string, string> = {}) => ({
      responseCode,
      responseHeaders: Object.entries({ 'Content-Type': type, ...more }).map(([name, value]) => ({ name, value })),
      body: btoa(body),
    });
    for (const [what, failure] of [
      ['answers 501', answer(501, 'application/json', '{}')],
      ['answers 429', answer(429, 'application/json', '{}', { 'Retry-After': '60' })],
      ['answers 503', answer(503, 'application/json', '{}')],
      ['refuses one question', answer(400, 'application/json', '{}')],
      ['answers with a page', answer(200, 'text/html', '<p>?')],
      ['answers with other JSON', answer(200, 'application/json', '{"error":"no"}')],
      ['is down', { errorReason: 'ConnectionRefused' }],
      ['does not answer in time', undefined],
    ] as const) {
      fail = failure;
      asked = 0;
      await page.evaluate('sessionStorage.clear()');
      await page.goto(`${site.computing.address}/search/`);
      await page.getByRole('searchbox').fill('snowboard');
      await expect.poll(() => names(page), { message: what }).toEqual(['SnowBoard']);
      await page.getByRole('searchbox').fill('ellekit');
      await expect.poll(() => names(page), { message: what }).toEqual(['ElleKit']);
      // On other pages, too, whatever it was.
      if (what === 'answers 501' || failure === undefined) {
        await page.goto(`${site.computing.address}/about/`);
        await page.getByRole('combobox').fill('nofomo');
        await page.getByRole('option', { name: 'NoFomoFix' }).waitFor();
      }
      // What refuses one may answer others.
      expect(asked, what).toBe(what === 'refuses one question' ? 2 : 1);
    }
  });

  it('asks the function again as soon as the connection is back, though no file could be loaded without it', async () => {
    const page = await site.openPatient('/search/?q=snowboard');
    const field = page.getByRole('searchbox');
    await field.fill('snowb');
    await expect.poll(() => names(page)).toContain('SnowBoard');
    await page.context().setOffline(true);
    await field.fill('inkfont');
    await page.locator('#search-status', { hasText: 'could not be loaded' }).waitFor();
    await page.context().setOffline(false);
    // On a busy machine a request may still fail at first.
    await expect.poll(() => page.evaluate("fetch('/v2/livez').then(({ ok }) => ok, () => false)")).toBe(true);
    await field.fill('snowbo');
    await expect.poll(() => names(page)).toContain('SnowBoard');
  });

  it('C11: sends the page with its rows, which are those that scripts make, and asks for nothing more', async () => {
    const plain = await site.open('/', { javaScriptEnabled: false }, site.computing.address);
    const page = await site.openPatient('/search/');
    const asked = watch(page);
    for (const question of ['snow', 'alpha', 'alert document', 'many']) {
      const target = `${site.computing.address}/search/?q=${encodeURIComponent(question)}`;
      await plain.goto(target);
      const sent = await plain.locator('#results .row').evaluateAll(markupOf);
      const status = await plain.locator('#search-status').textContent();
      expect(await plain.locator('noscript').count()).toBe(0);
      await page.getByRole('searchbox').fill(question);
      await expect
        .poll(() => page.locator('#results .row').evaluateAll(markupOf), { message: question })
        .toEqual(sent.slice(0, 20));
      await page.goto(target);
      asked.length = 0;
      await page.waitForLoadState('networkidle');
      expect(await page.locator('#search-status').textContent()).toBe(status);
      expect(asked.filter((name) => /search/.test(name))).toEqual([]);
      expect(await page.title()).not.toBe('owned');
    }
  });

  it('names a repository with its slug in rows of the API too, where another has its name', async () => {
    const page = await site.openPatient('/search/');
    await page.evaluate("document.getElementById('search-form').dataset.alike = 'beta alpha'");
    await page.getByRole('searchbox').fill('snowboard');
    await expect.poll(() => page.locator('#results .place').allTextContents()).toEqual(['Alpha Repo (alpha)']);
  });

  it('without JavaScript, it narrows and pages, from the field of the landing page on', async () => {
    const page = await site.open('/', { ...phone, javaScriptEnabled: false }, site.computing.address);
    await page.locator('main input[name=q]').fill('many');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search/?q=many');
    expect(await page.locator('#results .row').count()).toBe(32);
    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL('**/search/?q=many&page=2');
    expect((await names(page))[0]).toBe('Many 032');
    await page.locator('input[name=q]').fill('alpha');
    await page.getByText('Narrow and sort').click();
    await page.getByLabel('Section').selectOption('libraries');
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => names(page)).toEqual(['Alpha Library']);
    expect(await page.getByLabel('Section').inputValue()).toBe('libraries');
    await page.goto(`${site.computing.address}/search/?q=snwoboard`);
    expect(await page.locator('#fit a').textContent()).toBe('SnowBoard');
    await page.goto(`${site.computing.address}/search/?q=${'x'.repeat(300)}`);
    expect(await page.locator('#search-status').textContent()).toBe('Type 256 characters at most.');
  });

  it('without JavaScript, it searches in a repository and in a section from their pages', async () => {
    const page = await site.open('/', { ...phone, javaScriptEnabled: false }, site.computing.address);
    for (const [folder, question, filter, value, found] of [
      ['repository/beta', 'snow', 'repository', 'beta', ['SnowBoard']],
      ['section/libraries', 'alpha', 'section', 'libraries', ['Alpha Library']],
    ] as const) {
      await page.goto(`${site.computing.address}/${folder}/`);
      expect(await page.getByRole('link', { name: 'Search in this' }).count()).toBe(0);
      await page.getByRole('searchbox', { name: 'Search in this' }).fill(question);
      await page.locator('main').getByRole('button', { name: 'Search' }).click();
      await page.waitForURL('**/search/?q=*');
      expect(await names(page)).toEqual(found);
      expect(await page.locator(`select[name=${filter}]`).inputValue()).toBe(value);
    }
  });

  it('counts what results can be narrowed to, and goes on showing more', async () => {
    const page = await site.openPatient('/search/?q=many', phone);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(async () => (await names(page)).length).toBe(52);
    await page.getByText('Narrow and sort').click();
    await expect
      .poll(() => page.locator('select[name=section] option').allTextContents())
      .toEqual(['Any', 'Themes (240)']);
    await page.getByLabel('Order').selectOption('newest');
    await expect.poll(() => page.locator('#chosen-count').textContent()).toBe('1 chosen');
    await expect.poll(async () => (await names(page)).length).toBe(20);
  });

  it('shows more though the filters were about to be counted, which waits', async () => {
    const page = await site.openPatient('/search/');
    await page.evaluate(
      '{ const set = window.setTimeout; window.setTimeout = (run, wait, ...more) => { if (wait !== 300) return set(run, wait, ...more); window.due = run; }; }',
    );
    const { promise: isAsked, resolve: tell } = Promise.withResolvers<void>();
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route(
      ({ searchParams }) => searchParams.has('page'),
      async (route) => {
        tell();
        await isReleased;
        await route.continue().catch(() => {});
      },
    );
    await page.getByRole('searchbox').fill('many');
    await expect.poll(() => names(page)).toHaveLength(20);
    await page.getByRole('button', { name: 'Show more' }).click();
    await isAsked;
    await page.evaluate('due()');
    release();
    await expect.poll(() => names(page)).toHaveLength(40);
    await page.evaluate('due()');
    await expect
      .poll(() => page.locator('select[name=section] option').allTextContents())
      .toEqual(['Any', 'Themes (240)']);
  });

  it('comes back to the end of a long list, in few requests', async () => {
    const page = await site.openPatient('/search/');
    await page.getByRole('searchbox').fill('many');
    const more = page.getByRole('button', { name: 'Show more' });
    for (let count = 20; count < 240; count += 20) {
      await expect.poll(() => names(page)).toHaveLength(count);
      await more.click();
    }
    await expect.poll(() => names(page)).toHaveLength(240);
    const asked = watch(page);
    await page.getByRole('link', { name: 'Many 238' }).click();
    await page.waitForURL('**/package/**');
    await page.goBack();
    await expect.poll(() => names(page)).toHaveLength(240);
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Many 238');
    expect(asked.filter((name) => name === '/v2/jailbreak/package/search')).toHaveLength(1);
  });

  it('shows more by the files where the index fails meanwhile', async () => {
    const page = await site.openPatient('/search/');
    await page.getByRole('searchbox').fill('many');
    await expect.poll(() => names(page)).toHaveLength(20);
    await page.route(
      ({ searchParams }) => searchParams.has('page'),
      (route) => route.fulfill({ status: 500, json: {} }),
    );
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => names(page)).toHaveLength(40);
  });

  it('offers what it did not count, where it counted a part', async () => {
    const page = await site.openPatient('/search/?q=many', phone);
    const states = () => page.locator('select[name=state] option').allTextContents();
    await page.route(api, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as object;
      await route.fulfill({ json: { ...answer, refs: { nextPage: 'https://index.example/more' } } });
    });
    await page.getByText('Narrow and sort').click();
    await expect
      .poll(states)
      .toEqual([
        'Any',
        'Released, repository answers (240+)',
        'Pre-release or debug build',
        'Repository does not answer',
      ]);
  });

  it('finds the same in every order and by what was chosen, sent and asked for, and the files are asked for none of it', async () => {
    const page = await site.openPatient('/');
    const plain = await site.open('/', { javaScriptEnabled: false }, site.computing.address);
    const asked = watch(page);
    const at = (query: string) => `${site.computing.address}/search/?${query}`;
    for (const [query, expected] of [
      ['q=alpha&sort=name', ['Alpha Addon', 'Alpha Library']],
      ['q=snowboard+zzzzqq&sort=newest', ['SnowBoard']],
      ['q=snwoboard&sort=downloads', ['SnowBoard']],
      ['q=alpha&section=libraries', ['Alpha Library']],
      ['q=alpha&state=stale', []],
    ] as const) {
      await plain.goto(at(query));
      await page.goto(at(query));
      await expect.poll(() => names(page), { message: query }).toEqual(await names(plain));
      if (!query.includes('sort=name')) expect(await names(page), query).toEqual(expected);
      else expect((await names(page)).length, query).toBeGreaterThan(1);
      // The same by the form.
      await page.goto(at('q=zz'));
      for (const [name, value] of new URLSearchParams(query)) {
        if (name === 'q') await page.getByRole('searchbox').fill(value);
        else await page.locator(`select[name=${name}]`).selectOption(value);
      }
      await expect.poll(() => names(page), { message: query }).toEqual(await names(plain));
    }
    expect(asked.filter((name) => name.startsWith('/search-index/'))).toEqual([]);
    await plain.goto(at('q=alpha&section=themes&state='));
    expect(await plain.locator('#search-status').textContent()).toMatch(/^Nothing fits what is chosen/);
    await plain.getByRole('link', { name: 'Search without it' }).click();
    expect(await names(plain)).toContain('Alpha Library');
    await page.goto(at('q=many&sort=newest'));
    await expect.poll(() => page.locator('#search-status').textContent()).toMatch(/^At least \d+ packages$/);
    await page.getByRole('searchbox').fill('x'.repeat(257));
    await expect.poll(() => page.locator('#search-status').textContent()).toBe('Type 256 characters at most.');
  });

  it('T9: sends the words, what is chosen and how to order, as the privacy page says, and nothing else', async () => {
    const page = await site.openPatient('/search/');
    const names = new Set<string>();
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/package/search')) for (const name of searchParams.keys()) names.add(name);
    });
    const { promise: isSorted, resolve } = Promise.withResolvers<void>();
    page.on('request', (request) => request.url().includes('sort=newest') && resolve());
    await page.getByRole('searchbox').fill('many');
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.locator('select[name=section]').selectOption('themes');
    await page.locator('select[name=sort]').selectOption('newest');
    await isSorted;
    expect([...names].sort()).toEqual(['kind', 'limit', 'page', 'q', 'sort']);
    await page.goto(`${site.computing.address}/privacy/`);
    const told = await page.locator('main').innerText();
    for (const words of ['the words so far', 'what you narrow the results to', 'the order that you choose'])
      expect(told).toContain(words);
  });

  it('T9: names no file after more of the words than the privacy page says', async () => {
    const page = await site.openPatient('/');
    const files = new Set<string>();
    page.on('request', (request) => {
      const [, name] = /^\/search-index\/(.*)\.json$/.exec(new URL(request.url()).pathname) ?? [];
      if (name !== undefined) files.add(name);
    });
    await page.getByRole('combobox').pressSequentially('snowboard', { delay: 60 });
    await page.getByRole('option', { name: 'SnowBoard' }).waitFor();
    await expect.poll(() => page.locator('.suggestions').getAttribute('hidden')).toBe(null);
    // Who types quickly is asked for no list of the first letter.
    files.delete('beginnings/73');
    // The traits of the repositories are the same for all words.
    expect([...files].sort()).toEqual(['beginnings/73-6e', 'traits']);
    await page.goto(`${site.computing.address}/privacy/`);
    expect(await page.locator('main').innerText()).toContain('their first two letters as the name of a file');
  });

  const idsOn = (page: Page) =>
    page.evaluate<string[]>(
      'Array.from(document.querySelectorAll("#results [data-package]"), (row) => row.dataset.package)',
    );
  const isOther = (id: string) => [...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 3 === 0;

  /** Has some packages be for another build, in the rows that are sent and in the records; usually one of three. */
  const mixBuilds = async (page: Page, isForOther = isOther) => {
    await page.route(/\/search\/\?/, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replaceAll(/data-runs="rootless" data-package="([^"]+)"/g, (row, id) =>
        isForOther(id) ? row.replace('rootless', 'rootful') : row,
      );
      await route.fulfill({ response, body });
    });
    await page.route(api, async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as { data: { package_id: string; architecture: string }[]; refs: object };
      for (const one of json.data) if (isForOther(one.package_id)) one.architecture = 'iphoneos-arm';
      // As if there were no end.
      json.refs = { nextPage: 'https://index.example/more' };
      if (route.request().url().includes('&page=')) json.data = [];
      await route.fulfill({ response, json });
    });
    await page.route('**/search-index/stated/*.json', (route) => route.fulfill({ json: {} }));
  };

  it('C14: takes the rows that were sent where enough of them are for the device, and looks at more where few are', async () => {
    const page = await site.openPatient('/');
    const asked = watch(page);
    const searches = () => asked.filter((name) => name === '/v2/jailbreak/package/search').length;
    const ids = () => idsOn(page);
    const open = async (query: string) => {
      asked.length = 0;
      await page.goto(`${site.computing.address}/search/?${query}`);
      await page.locator('#results .verdict').first().waitFor();
      await page.waitForLoadState('networkidle');
    };
    const verdicts = async () => new Set(await page.locator('#results .verdict').allTextContents());
    const unstated = 'Rootless, iOS not stated';
    await open('q=many&ios=16.7&build=rootless');
    const sent = await ids();
    expect([sent.length, searches(), await verdicts()]).toEqual([32, 0, new Set([unstated])]);
    // All that there is was sent, and what no record of the API tells is read.
    await open('q=alpha&ios=16.7&build=rootless');
    expect([(await ids()).length, searches(), await verdicts()]).toEqual([6, 0, new Set([unstated, 'Runs here'])]);
    await open('q=many&ios=14.3&build=rootful');
    expect([searches(), await verdicts()]).toEqual([1, new Set(['No rootful build'])]);

    await mixBuilds(page);
    const order = (list: readonly string[]) => [
      ...list.filter((id) => !isOther(id)),
      ...list.filter((id) => isOther(id)),
    ];
    await open('q=many&ios=16.7&build=rootless');
    expect([await ids(), searches()]).toEqual([order(sent), 0]);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(async () => (await ids()).length).toBe(sent.length + 20);
    // Those that are for it come before others that were not shown yet.
    const found = await fetch(`${site.computing.address}/v2/jailbreak/package/search?q=many&limit=250`);
    const { data } = (await found.json()) as { data: { package_id: string }[] };
    const further = data.map((one) => one.package_id).filter((id) => !sent.includes(id) && !isOther(id));
    expect(await ids()).toEqual(order([...sent, ...further.slice(0, 20)]));
  });

  it('C14: comes back to a row that is not for the device, among those that were sent, and after more were shown', async () => {
    const page = await site.openPatient('/');
    await mixBuilds(page);
    await page.goto(`${site.computing.address}/search/?q=many&ios=16.7&build=rootless`);
    await page.locator('#results > .misfits').waitFor();
    const focused = () => page.evaluate('document.activeElement.closest("[data-package]")?.dataset.package');
    for (const count of [32, 52]) {
      await expect.poll(async () => (await idsOn(page)).length).toBe(count);
      const rows = await idsOn(page);
      const last = rows.at(-1) as string;
      expect(isOther(last)).toBe(true);
      await page.locator(`[data-package="${last}"] .name`).click();
      await page.waitForURL('**/package/**');
      await page.goBack();
      await expect.poll(focused).toBe(last);
      expect(await idsOn(page)).toEqual(rows);
      await page.getByRole('button', { name: 'Show more' }).click();
    }
    // Who set another device on the page of the package is shown others than those that were sent, which are not for it.
    await page.goto(`${site.computing.address}/search/?q=many`);
    const others = page.waitForRequest((request) => request.url().includes('/package/search?'));
    await page.evaluate("localStorage.setItem('device', '14.3 roothide')");
    await page.evaluate("history.replaceState({ shown: 32, sent: 32, at: '', y: 0 }, '')");
    await page.route(/\/search\/\?/, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replaceAll('data-runs="rootless"', 'data-runs="rootful"');
      await route.fulfill({ response, body });
    });
    await page.reload();
    await others;
  });

  it('C14: asks for no more than it shows next, though some of the rows that were sent are not for the device', async () => {
    const page = await site.openPatient('/');
    const found = await fetch(`${site.computing.address}/v2/jailbreak/package/search?q=many&limit=250`);
    const all = ((await found.json()) as { data: { package_id: string }[] }).data.map((one) => one.package_id);
    // Of those that are sent, 12 are for it, and 25 others.
    await mixBuilds(page, (id) => all.indexOf(id) >= 12 && all.indexOf(id) < all.length - 25);
    let searches = 0;
    await page.route(api, (route) => {
      searches++;
      return route.fallback();
    });
    await page.goto(`${site.computing.address}/search/?q=many&ios=16.7&build=rootless`);
    await page.locator('#results > .misfits').waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(async () => (await idsOn(page)).length).toBe(52);
    expect(await page.locator('#results > .misfits ~ li').count()).toBe(20);
    expect(searches).toBe(1);
  });

  it('C14: leaves the focus on a row where it comes to stand elsewhere', async () => {
    const page = await site.openPatient('/');
    await mixBuilds(page);
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/search-index/stated/*.json', async (route) => {
      await isReleased;
      await route.fulfill({ json: { 'com.many.p2': 'rootful' } });
    });
    await page.goto(`${site.computing.address}/search/?q=many&ios=16.7&build=rootless`);
    const belowLine = (name: string) => page.locator('#results > .misfits ~ li .name', { hasText: name }).count();
    await page.getByRole('link', { name: 'Many 002' }).focus();
    expect(await belowLine('Many 002')).toBe(0);
    release();
    await expect.poll(() => belowLine('Many 002')).toBe(1);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Many 002');
  });

  it('shows no row twice, and each, where the files answer after rows that the function sent', async () => {
    const page = await site.openPatient('/');
    // In another order than that of the files.
    await page.route(/\/search\/\?/, async (route) => {
      await route.fulfill({ response: await route.fetch({ url: `${route.request().url()}&page=3` }) });
    });
    for (const status of [400, 500]) {
      await page.route(api, (route) => route.fulfill({ status, json: {} }));
      await page.goto(`${site.computing.address}/search/?q=many`);
      expect((await idsOn(page))[0]).toBe('com.many.p64');
      await page.getByRole('button', { name: 'Show more' }).click();
      await expect.poll(async () => (await idsOn(page)).length).toBe(52);
      expect((await idsOn(page)).slice(0, 2)).toEqual(['com.many.p0', 'com.many.p1']);
      expect(new Set(await idsOn(page)).size).toBe(52);
    }
  });

  it('C14: sends the device of the visitor to nobody', async () => {
    const page = await site.openPatient('/');
    await page.evaluate("localStorage.setItem('device', '16.7 rootless')");
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
    await page.goto(`${site.computing.address}/search/`);
    await page.locator('main').getByRole('searchbox').fill('many');
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => page.locator('#results .row').count()).toBeGreaterThan(20);
    await page.locator('#results .verdict').first().waitFor();
    await page.locator('select[name=section]').selectOption('themes');
    await page.waitForURL('**/search/?q=many&section=themes');
    await page.locator('#results .name').first().click();
    await page.locator('.for-device .verdict').waitFor();
    const asked = sent.filter((one) => one.includes('/package/search?'));
    expect(asked.length).toBeGreaterThan(1);
    for (const one of sent) expect(one).not.toMatch(/firmware|16\.7|rootless|iphoneos/i);
  });

  it('C14: tells no server the address of a page, which names the device where it was set, and the words', async () => {
    const page = await site.openPatient('/search/', phone);
    const told: string[] = [];
    page.on('request', (request) => told.push(request.headers().referer ?? ''));
    await page.locator('#device-bar summary').click();
    await page.getByLabel('iOS', { exact: true }).fill('16.7');
    await page.getByLabel('Jailbreak').selectOption('rootless');
    await page.getByRole('button', { name: 'Show what runs' }).click();
    await page.waitForURL('**/search/?ios=16.7&build=rootless');
    await page.locator('main').getByRole('searchbox').fill('many');
    await page.locator('#results .verdict').first().waitFor();
    await page.locator('#results .name').first().click();
    await page.locator('.for-device .verdict').waitFor();
    expect(told.length).toBeGreaterThan(3);
    expect(new Set(told)).toEqual(new Set(['']));
  });

  it('a person finds a tweak for iOS 16 rootless and opens it in the manager', async () => {
    const page = await site.openPatient('/', phone);
    await page.locator('#device-bar summary').click();
    await page.getByLabel('iOS', { exact: true }).fill('16');
    await page.getByLabel('Jailbreak').selectOption('rootless');
    await page.getByRole('button', { name: 'Show what runs' }).click();
    await page.getByRole('combobox').pressSequentially('icon theme', { delay: 30 });
    await page.getByRole('option', { name: 'SnowBoard' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search/?q=icon+theme');
    const row = page.locator('#results .row', { hasText: 'SnowBoard' });
    // What it states in its relations no record of the API tells.
    await expect.poll(() => row.locator('.verdict').textContent()).toBe('Runs here');
    await row.locator('.name').click();
    await page.waitForURL('**/package/com.alpha.snowboard/');
    expect(await page.locator('.for-device .verdict').textContent()).toBe('Runs here');
    expect(await page.getByRole('link', { name: 'Open in Sileo' }).getAttribute('href')).toBe(
      'sileo://package/com.alpha.snowboard',
    );
  });
});
