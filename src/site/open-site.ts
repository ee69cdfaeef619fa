import type { BuildOrder } from './build-site.ts';
import { provideSite } from './context.ts';
import { SiteCatalog } from './site-catalog.ts';

/** Opens the catalog of a build, and gives the pages of this thread what they show. It is for the caller to close. */
export const openSite = (order: BuildOrder): SiteCatalog => {
  const { baseUrl, staticRefs = false, policyUpdated, signingKey, service, safety, hasAllPictures } = order;
  const catalog = new SiteCatalog(order.catalogPath, order.lastBuild, order.depictions);
  provideSite(catalog, { base: baseUrl, staticRefs }, { policyUpdated, signingKey, service, safety, hasAllPictures });
  return catalog;
};
