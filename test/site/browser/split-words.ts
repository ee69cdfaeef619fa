/** Words of up to sixteen letters that stand on two lines, which only a break within them can do. Addresses are none. */
export const splitWords = `(() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector('#content'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.checkVisibility() || node.parentElement.closest('.mono, code, pre, time')) continue;
    for (const { index, 0: word } of node.data.matchAll(/(?<![^\\s(])\\p{L}{2,16}(?![^\\s.,;:!?)]|[.:]\\S)/gu)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const tops = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)));
      if (tops.size > 1) found.push(word);
    }
  }
  return found;
})()`;
