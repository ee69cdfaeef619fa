import { html } from 'hono/html';
import type { StatusCode } from 'hono/utils/http-status';
import { describeApplication, formActionSource } from '../callback.ts';
import { errorMessage, type Markup, type Page } from './page.ts';

/** What the login page shows. `request` is absent if the user wants to reach the devices page. */
export interface LoginView {
  readonly request?: { readonly handle: string; readonly application: string; readonly model: string } | undefined;
  readonly csrf: string;
  readonly action: string;
  readonly openId?: { readonly label: string; readonly href: string } | undefined;
  /** False if no account has a password. */
  readonly hasAccounts: boolean;
  readonly name?: string;
  readonly error?: { readonly sentences: readonly string[]; readonly status: StatusCode; readonly retryAfter?: number };
}

/** The login page. */
export const loginPage = (view: LoginView): Page => {
  const { request, error, openId } = view;
  const application = request && describeApplication(request.application);
  const form = view.hasAccounts || openId === undefined ? passwordForm(view) : '';
  return {
    title: error ? 'Error: Sign in' : 'Sign in',
    status: error?.status ?? 200,
    formAction: request && formActionSource(request.application),
    headers: error?.retryAfter === undefined ? {} : { 'Retry-After': String(error.retryAfter) },
    content: html`<h1>Sign in</h1>
${error ? errorMessage(...error.sentences) : ''}
${
  request
    ? html`<dl>
<div><dt>Asked by</dt><dd>${application}</dd></div>
<div><dt>For device</dt><dd><bdi>${request.model}</bdi></dd></div>
</dl>`
    : html`<p class="lead">To see the devices that use your account.</p>`
}
${
  openId
    ? html`<a class="button quiet" href="${openId.href}">Continue with <bdi>${openId.label}</bdi></a>
${form === '' ? '' : html`<div class="or"><span>or</span></div>`}`
    : ''
}
${view.hasAccounts ? form : openId ? '' : noAccounts}`,
  };
};

const noAccounts = html`<div class="message notice" role="status">
<p><strong>No account exists yet.</strong></p>
<p>Whoever runs this server adds one with</p>
<pre><code>npm run accounts -- add NAME</code></pre>
</div>`;

const passwordForm = ({ action, csrf, request, name, error }: LoginView): Markup => {
  // Marks the fields as invalid only if what was typed was wrong, not if the form was refused for where it came from.
  const invalid = error?.status === 403 && name !== undefined ? 'true' : 'false';
  return html`<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
${request ? html`<input type="hidden" name="request" value="${request.handle}">` : ''}
<label for="name">Account name</label>
<input id="name" name="name" dir="auto" value="${name ?? ''}" autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" maxlength="64" required aria-invalid="${invalid}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required aria-invalid="${invalid}">
<button type="submit">Sign in</button>
${request ? html`<p class="hint">You return to the application afterwards.</p>` : ''}
</form>`;
};

/** Why a sign-in request cannot continue, for the user of the device. */
export const endedRequestPage = (state: 'used' | 'expired' | 'unknown'): Page => ({
  title: 'Error: Sign in',
  status: 410,
  content: html`<h1>${endings[state].title}</h1>
${errorMessage(endings[state].sentence)}
<p class="lead">Go back to the application and start again from there.</p>`,
});

const endings = {
  used: {
    title: 'Already signed in',
    sentence: 'This sign-in request has been used. Each one works once.',
  },
  expired: {
    title: 'Too late',
    sentence: 'This sign-in request has expired. Each one waits ten minutes.',
  },
  unknown: {
    title: 'Unknown request',
    sentence: 'This sign-in request is not known here. Its address may be incomplete.',
  },
} as const;

/** A page for a failure that is nobody's mistake or cannot be shown on a form. */
export const failurePage = (status: StatusCode, title: string, sentence: string, headers = {}): Page => ({
  title: `Error: ${title}`,
  status,
  headers,
  content: html`<h1>${title}</h1>
${errorMessage(sentence)}`,
});
