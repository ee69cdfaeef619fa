/** Words of up to sixteen letters that stand on two lines, which only a break within them can do. Addresses are none. */
export const splitWords = `(() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const linesOf = (range) =>
    new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top))).size;
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    // Where all of it stands on one line, so does each of its words: most of a page is asked once for many.
    range.selectNodeContents(node);
    if (linesOf(range) < 2) continue;
    if (!node.parentElement.checkVisibility() || node.parentElement.closest('.mono, code, pre, time')) continue;
    for (const { index, 0: word } of node.data.matchAll(/(?<![^\\s(])\\p{L}{2,16}(?![^\\s.,;:!?)]|[.:]\\S)/gu)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (linesOf(range) > 1) found.push(word);
    }
  }
  return found;
})()`;
