// Builds the site of a catalog and prints as JSON what that took; measured from outside by site-builds.ts.
import { buildSite, type SiteOptions } from '../../src/site/build-site.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as SiteOptions;
const started = performance.now();
const summary = await buildSite(options);
console.log(JSON.stringify({ took: (performance.now() - started) / 1000, summary }));
