import { hash } from 'node:crypto';

/**
 * Runs before the first paint: the theme that was chosen, for what browsers draw around the page too (of its two colours,
 * which stand before this, the first is the light one, as in client/main.ts), the mark that scripts work, which shows what needs them,
 * the mark of a visitor's device, kept or of a shared address, for which rows and pages keep room, and that of a question
 * in the address, for which the search does. A browser that lacks what came with the syntax of the scripts (Safari before
 * iOS 14) reads none of them, and keeps the page of one that runs none.
 */
export const themeScript =
  "(function(d,t){if(!d.replaceChildren)return;d.dataset.script='';if(location.search)d.dataset.asked='';if(/[?&]ios=\\d/.test(location.search))d.dataset.device='';try{t=localStorage.getItem('theme');if(localStorage.getItem('device')||sessionStorage.getItem('device'))d.dataset.device=''}catch(e){}if(t==='light'||t==='dark'){d.dataset.theme=t;document.querySelectorAll('[name=theme-color]').forEach(function(m,i){m.media=i===(t==='dark'?1:0)?'all':'not all'})}})(document.documentElement)";

const digest = hash('sha256', themeScript, 'base64');

/**
 * What a page may load and run: scripts of its own, and package icons from anywhere. Strangers' text is escaped; should
 * that ever fail, this keeps it from running (CSP Level 3). Pagefind is WebAssembly.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src 'self' 'wasm-unsafe-eval' 'sha256-${digest}'`,
  "style-src 'self'",
  "img-src 'self' https: http: data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
].join('; ');
