import type { BuildOrder } from './build-site.ts';
import { provideSite } from './context.ts';
import { SiteCatalog } from './site-catalog.ts';

/** Opens the catalog of a build, and provides it to the pages of this thread. The caller has to close it. */
export const openSite = (order: BuildOrder): SiteCatalog => {
  const { baseUrl, staticRefs = false, policyUpdated, signingKey, service, safety, hasAllPictures } = order;
  const catalog = new SiteCatalog(order.catalogPath, order.lastBuild, order.depictions, safety);
  provideSite(catalog, { base: baseUrl, staticRefs }, { policyUpdated, signingKey, service, safety, hasAllPictures });
  return catalog;
};
