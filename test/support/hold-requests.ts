import type { Page } from 'playwright-core';

/** Holds back what a page asks for at such addresses; what is returned lets it go. */
export const holdRequests = async (page: Page, addresses: string | RegExp): Promise<() => void> => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  await page.route(addresses, async (route) => {
    await held;
    // The page may have been left meanwhile.
    await route.continue().catch(() => {});
  });
  return letGo;
};
