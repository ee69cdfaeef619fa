// Who operates an index has the list of changes in the files of the program. On the site it would make the page too large
// for its other readers, so it is a page of its own.
const forOperators = /<h3 id="for-operators[^>]*>.*?(?=<h[23]|$)/gs;

/** The list of changes, as HTML, without its own heading and what it tells operators. */
export const changesForUsers = (html: string): string =>
  html.replace(/^<h1.*?<\/h1>\n?/s, '').replaceAll(forOperators, '');

/** What the list of changes tells operators, as HTML, below the heading of each release. */
export const changesForOperators = (html: string): string =>
  html
    .split(/(?=<h2)/)
    .flatMap((release) => {
      const [heading] = /^<h2.*?<\/h2>/s.exec(release) ?? [];
      const told = release.match(forOperators) ?? [];
      return heading === undefined || told.length === 0 ? [] : [heading, ...told];
    })
    .join('\n');
