import type { Page } from 'playwright-core';

/** Holds back a page's requests to these addresses, until the returned function is called. */
export const holdRequests = async (page: Page, addresses: string | RegExp): Promise<() => void> => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  await page.route(addresses, async (route) => {
    await held;
    // The page may have been left meanwhile.
    await route.continue().catch(() => {});
  });
  return letGo;
};
