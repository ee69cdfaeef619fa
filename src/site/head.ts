import { hash } from 'node:crypto';

/**
 * Runs before the first paint. It sets the chosen theme, also for what browsers draw around the page (of the two colours
 * that precede it, the first is the light one, as in client/main.ts), the mark that scripts work, by which style sheets
 * show what needs them, the mark of a visitor's device (stored or in a shared address), for which rows and pages reserve
 * room, and that of a query in the address, for which the search does. A browser without the features that came with the
 * scripts' syntax (Safari before iOS 14) runs none of them, and keeps the page as without scripts.
 */
export const themeScript =
  "(function(d,t){if(!d.replaceChildren)return;d.dataset.script='';if(location.search)d.dataset.asked='';if(/[?&]ios=\\d/.test(location.search))d.dataset.device='';try{t=localStorage.getItem('theme');if(localStorage.getItem('device')||sessionStorage.getItem('device'))d.dataset.device=''}catch(e){}if(t==='light'||t==='dark'){d.dataset.theme=t;document.querySelectorAll('[name=theme-color]').forEach(function(m,i){m.media=i===(t==='dark'?1:0)?'all':'not all'})}})(document.documentElement)";

const digest = hash('sha256', themeScript, 'base64');

/**
 * What a page may load and run: its own scripts, and package icons from anywhere. Strangers' text is escaped; if that
 * ever fails, this prevents it from running (CSP Level 3).
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${digest}'`,
  "style-src 'self'",
  "img-src 'self' https: http: data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
].join('; ');
