const entrances: ReadonlySet<string> = new Set([
  ...['index.html', 'sitemap.xml', 'feed.atom', 'feed.json', 'search-index/index.json'],
  'v2/index.json',
]);

/** Whether people and programs begin at this file. Everything else is found from there, so it is written last. */
export const isEntrance = (path: string): boolean => entrances.has(path);
