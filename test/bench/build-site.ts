// Builds the site of a catalog as standard input says, and prints the cost as JSON. site-builds.ts measures it from
// outside.
import { text } from 'node:stream/consumers';
import { publishSite, type SitePublishing } from '../../src/pipeline/site-step.ts';

const options = JSON.parse(await text(process.stdin)) as SitePublishing;
const started = performance.now();
const summary = await publishSite(options);
console.log(JSON.stringify({ took: (performance.now() - started) / 1000, summary }));
