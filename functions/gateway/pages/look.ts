/**
 * The look of the pages, with the names and values of the site (`src/layouts/tokens.css`), as far as a form needs them.
 * It is a string because the function reads no files. Text has a contrast of at least 4.5:1 and edges of controls 3:1
 * (WCAG 2.2, 1.4.3 and 1.4.11). Plain properties and media queries, because old phones read these pages.
 */
export const look = `:root {
  color-scheme: light dark;
  --ground: #f5f2ea;
  --card: #fffdf8;
  --line: #ddd7c7;
  --edge: #837c6b;
  --ink: #1a1d19;
  --muted: #5a594e;
  --accent: #0a5a49;
  --accent-hover: #07453a;
  --accent-soft: #d8ecdf;
  --on-accent: #ffffff;
  --red: #97281d;
  --red-soft: #fbe1db;
  --text: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "Roboto Mono", Menlo, Consolas, monospace;
  --round: 0.75rem;
  --round-small: 0.5rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1312;
    --card: #171c1a;
    --line: #303834;
    --edge: #74807a;
    --ink: #ebeae3;
    --muted: #b4bab1;
    --accent: #74d8bb;
    --accent-hover: #9be7d1;
    --accent-soft: #16352c;
    --on-accent: #06201a;
    --red: #ffa294;
    --red-soft: #3c1c18;
  }
}`;
