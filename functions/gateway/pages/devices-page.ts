import { html } from 'hono/html';
import { describeApplication } from '../callback.ts';
import { type Device, devicesShown } from '../store/credential-store.ts';
import type { Page } from './page.ts';

export interface DevicesView {
  readonly displayName: string;
  readonly devices: readonly Device[];
  readonly csrf: string;
  readonly signOut: string;
  readonly leave: string;
  /** Whether to confirm that a device was signed out. */
  readonly done?: boolean;
}

/** The page on which a user sees the devices of an account and signs them out. */
export const devicesPage = ({ displayName, devices, csrf, signOut, leave, done }: DevicesView): Page => ({
  title: 'Your devices',
  wide: true,
  content: html`<div class="top"><h1>Your devices</h1>
<form method="post" action="${leave}"><input type="hidden" name="csrf" value="${csrf}"><button class="link" type="submit">Leave</button></form></div>
<p class="lead">Signed in as <bdi><strong>${displayName}</strong></bdi>. A device that you sign out has to sign in again before it can use this account.</p>
${done ? html`<div class="message notice" role="status"><p>The device is signed out.</p></div>` : ''}
${
  devices.length === 0
    ? html`<p>No device is signed in.</p>`
    : html`<ul>${devices.slice(0, devicesShown).map(
        (device) => html`<li class="device">
<div>
<h2><bdi>${device.model}</bdi></h2>
<p class="facts"><span>${describeApplication(device.application)} · identifier ${device.maskedUdid}</span>
<span>Signed in ${time(device.signedInAt)}</span>
<span>Last used ${time(device.lastUsedAt)}</span></p>
</div>
<form method="post" action="${signOut}">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="family" value="${device.familyId}">
<button class="quiet" type="submit" aria-label="Sign out ${device.model}, ${device.maskedUdid}">Sign out</button>
</form>
</li>`,
      )}</ul>`
}
${devices.length > devicesShown ? html`<p>These are the ${devicesShown} newest. Sign out some of them to see others.</p>` : ''}`,
});

// Created for the first page, because it takes tens of milliseconds and every server loads this module.
let format: Intl.DateTimeFormat | undefined;

const time = (milliseconds: number) => {
  const date = new Date(milliseconds);
  format ??= new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  return html`<time datetime="${date.toISOString()}">${format.format(date)} UTC</time>`;
};
