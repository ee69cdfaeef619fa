/**
 * The look of the pages, with the names and values of the site's own (`src/layouts/tokens.css`), as far as a form needs
 * them; they are a text here because the function reads no files. Text has at least 4.5 to 1 on its ground and edges of
 * controls 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11). Plain properties and media queries, because phones that are years old
 * read these pages.
 */
export const look = `:root {
  color-scheme: light dark;
  --ground: #f5f8f7;
  --card: #ffffff;
  --line: #d7e0dd;
  --edge: #7a8a85;
  --ink: #14201d;
  --muted: #52615c;
  --accent: #0a5a49;
  --accent-hover: #07453a;
  --accent-soft: #dff0ea;
  --on-accent: #ffffff;
  --red: #9c2a1f;
  --red-soft: #fce8e4;
  --text: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "Roboto Mono", Menlo, Consolas, monospace;
  --round: 0.75rem;
  --round-small: 0.5rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d1312;
    --card: #151d1b;
    --line: #2a3633;
    --edge: #6d807a;
    --ink: #e6eeeb;
    --muted: #9fb1ab;
    --accent: #74d8bb;
    --accent-hover: #9be7d1;
    --accent-soft: #16322b;
    --on-accent: #06201a;
    --red: #ffa294;
    --red-soft: #3a1b17;
  }
}`;
