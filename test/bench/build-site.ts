// Builds the site of a catalog and prints as JSON what that took; measured from outside by site-builds.ts.
import { publishSite, type SitePublishing } from '../../src/pipeline/site-step.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as SitePublishing;
const started = performance.now();
const summary = await publishSite(options);
console.log(JSON.stringify({ took: (performance.now() - started) / 1000, summary }));
