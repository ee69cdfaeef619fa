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
  /** For lists, which need more room than a form. */
  readonly wide?: boolean;
  /** Where a form on this page may lead besides the gateway itself: a source of Content-Security-Policy. */
  readonly formAction?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Renders pages of one site; `site` is its host name. */
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

/** The one way the gateway redirects: 303, so that a password sent by POST is never sent on (RFC 9700, section 4.12). */
export const redirect = (c: Context, location: string): Response =>
  c.newResponse(null, 303, { ...redirectHeaders, Location: location });

/** What went wrong, at the head of the page, where a screen reader says it and the keyboard is. */
export const errorMessage = (...sentences: string[]): Markup =>
  html`<div class="message error" role="alert" tabindex="-1" autofocus>${sentences.map(
    (sentence) => html`<p>${sentence}</p>`,
  )}</div>`;
