import { describe, expect, it } from 'vitest';
import { phone, useSiteInBrowser } from './site-in-browser.ts';

const site = useSiteInBrowser();

// From the landing page, by what one sees. That a tweak is found and opened is in searching-by-function.test.ts.
describe('a person', () => {
  it('sees why a repository is stale, and since when', async () => {
    const page = await site.openPatient('/');
    await page.getByRole('navigation').getByRole('link', { name: 'Status' }).first().click();
    await page.waitForURL('**/status/');
    const attention = page.locator('main a[href="/repository/beta/#report"]');
    expect(await page.locator('main').innerText()).toMatch(/What needs attention.*Beta\s+Not renewed/s);
    await attention.click();
    await page.waitForURL('**/repository/beta/#report');
    const report = page.locator('#report');
    expect(await report.isVisible()).toBe(true);
    expect(await page.locator('main').innerText()).toMatch(/answers too slowly.*confirmed.*17 Nov 2026/s);
  });

  it('follows an author', async () => {
    const page = await site.openPatient('/package/com.alpha.snowboard/', phone);
    await page.getByRole('link', { name: 'Ada Example' }).first().click();
    await page.waitForURL('**/author/ada-example/');
    const feed = await page.getByRole('link', { name: 'Follow by feed' }).getAttribute('href');
    const answer = await page.request.get(new URL(feed ?? '', page.url()).href);
    expect([answer.status(), answer.headers()['content-type']]).toEqual([200, expect.stringContaining('atom')]);
    const text = await answer.text();
    expect(text).toContain('<title>Ada Example');
    expect(text).toContain('/package/com.alpha.snowboard/');
  });

  it('compares two copies, and learns that the same version has other bytes', async () => {
    const page = await site.openPatient('/package/com.alpha.snowboard/');
    expect(await page.locator('main').innerText()).toMatch(/Beta.*behind 1\.5\.1/s);
    await page.getByRole('link', { name: 'other bytes' }).first().click();
    await page.waitForURL('**/divergence/');
    const told = await page.locator('main').innerText();
    expect(told).toMatch(/Alpha Repo and Beta.*com\.alpha\.snowboard 1\.3 \(rootless\)/s);
    await page.getByRole('link', { name: 'com.alpha.snowboard 1.3' }).click();
    await page.waitForURL('**/package/com.alpha.snowboard/');
  });

  it('uses the API from its page', async () => {
    const page = await site.openPatient('/');
    await page.getByRole('navigation').getByRole('link', { name: 'API' }).first().click();
    await page.waitForURL('**/api/');
    const example = await page
      .getByRole('link', { name: '/v2/jailbreak/package/search?q=' })
      .first()
      .getAttribute('href');
    const { pathname, search } = new URL(example ?? '');
    const asked = await page.evaluate<{ data: { package: string }[] }>(
      `fetch(${JSON.stringify(pathname + search)}).then((response) => response.json())`,
    );
    expect(asked.data.length).toBeGreaterThan(0);
    expect(await page.locator('main').innerText()).toContain('429 with Retry-After: seconds to wait');
  });
});
