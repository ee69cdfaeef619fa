/**
 * The look in one place: paper, ink and one accent, light and dark. Contrast on their paper (WCAG 2.2, 1.4.3 and 1.4.11):
 * ink, muted, accent and danger at least 4.5 to 1, edges of controls at least 3 to 1. The colours are named for what they
 * are used for. Plain custom properties and media queries, because devices that cannot be updated read these pages.
 */
export const look = `:root {
  color-scheme: light dark;
  --paper: #f6f5f2;
  --raised: #ffffff;
  --ink: #1c1b19;
  --muted: #62605b;
  --line: #dfdcd5;
  --edge: #8b8780;
  --accent: #1f5fbf;
  --accent-strong: #174a97;
  --on-accent: #ffffff;
  --danger: #b3261e;
  --danger-paper: #fdf1ef;
  --notice-paper: #f1f4fa;
  --radius: 10px;
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --font-code: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #141413;
    --raised: #1e1e1c;
    --ink: #eeece7;
    --muted: #a8a49b;
    --line: #35332f;
    --edge: #7f7b73;
    --accent: #8ab4f8;
    --accent-strong: #a9c8fb;
    --on-accent: #10233f;
    --danger: #ffb4ab;
    --danger-paper: #331714;
    --notice-paper: #1b2432;
  }
}`;
