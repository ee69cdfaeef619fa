import type { BuildOrder } from './build-site.ts';
import { provideSite } from './context.ts';
import { SiteCatalog } from './site-catalog.ts';

/**
 * Opens the catalog of a build. The caller has to close it.
 *
 * @param rendersFew as `SiteCatalog` has it
 */
export const openCatalog = (
  { catalogPath, lastBuild, depictions, safety }: BuildOrder,
  rendersFew = false,
): SiteCatalog => new SiteCatalog(catalogPath, lastBuild, depictions, safety, rendersFew);

/** Provides the catalog of a build to the pages of this thread. */
export const provideCatalog = (catalog: SiteCatalog, order: BuildOrder): void => {
  const { baseUrl, staticRefs = false, policyUpdated, signingKey, service, safety, hasAllPictures } = order;
  provideSite(catalog, { base: baseUrl, staticRefs }, { policyUpdated, signingKey, service, safety, hasAllPictures });
};

/** Both. */
export const openSite = (order: BuildOrder): SiteCatalog => {
  const catalog = openCatalog(order);
  provideCatalog(catalog, order);
  return catalog;
};
