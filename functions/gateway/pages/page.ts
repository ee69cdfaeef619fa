import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import type { StatusCode } from 'hono/utils/http-status';
import type { Cryptography } from '../cryptography.ts';
import { pageStyles } from './page-styles.ts';

/** Escaped HTML. */
export type Markup = ReturnType<typeof html>;

export interface Page {
  readonly title: string;
  readonly content: Markup;
  readonly status?: StatusCode;
  /** Whether the page is wide, for lists that need more room than a form. */
  readonly wide?: boolean;
  /** Another source of Content-Security-Policy to which forms on this page may lead, besides the gateway itself. */
  readonly formAction?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Renders the gateway's pages. `site` is the host name of the service. */
export const createPageRenderer = (cryptography: Cryptography, site: string) => {
  const styleHash = btoa(String.fromCharCode(...cryptography.sha256(pageStyles)));
  const headers = (formAction?: string) => ({
    ...redirectHeaders,
    'Content-Type': 'text/html; charset=UTF-8',
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src 'sha256-${styleHash}'`,
      `form-action 'self'${formAction ? ` ${formAction}` : ''}`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'X-Frame-Options': 'DENY',
    'Cross-Origin-Opener-Policy': 'same-origin',
  });
  return async (c: Context, page: Page): Promise<Response> => {
    const document = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${page.title} – ${site}</title>
<style>${raw(pageStyles)}</style>
</head>
<body>
<header${raw(page.wide ? ' class="wide-frame"' : '')}><b>${site}</b></header>
<main${raw(page.wide ? ' class="wide"' : '')}>
<div class="card">
${page.content}
</div>
</main>
</body>
</html>
`;
    const status = page.status ?? 200;
    return c.newResponse(document.toString(), status, { ...headers(page.formAction), ...page.headers });
  };
};

const redirectHeaders = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/**
 * The gateway redirects only in this way: with 303, so that a browser never repeats a POST with a password (RFC 9700,
 * section 4.12).
 */
export const redirect = (c: Context, location: string): Response =>
  c.newResponse(null, 303, { ...redirectHeaders, Location: location });

/** An error message at the top of the page, which screen readers announce and which gets the focus. */
export const errorMessage = (...sentences: string[]): Markup =>
  html`<div class="message error" role="alert" tabindex="-1" autofocus>${sentences.map(
    (sentence) => html`<p>${sentence}</p>`,
  )}</div>`;
