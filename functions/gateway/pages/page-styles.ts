import { look } from './look.ts';

/** The style sheet of the gateway's pages, embedded in each page and allowed there by its hash. */
export const pageStyles = `${look}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.5 var(--text);
}
main, header { width: 100%; max-width: 27rem; margin: 0 auto; padding: 0 min(1.25rem, 5.5vw); }
main.wide, .wide-frame { max-width: 40rem; }
header { padding-top: 1.25rem; padding-bottom: 1rem; font-size: .9375rem; overflow-wrap: anywhere; }
header b { font-weight: 650; letter-spacing: -.01em; }
main { padding-bottom: 2.5rem; }
h1 { margin: 0 0 .5rem; font-size: 1.625rem; line-height: 1.2; font-weight: 680; letter-spacing: -.02em; }
h2 { margin: 0; font-size: 1.0625rem; line-height: 1.35; font-weight: 620; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; }
.lead { color: var(--muted); }
.lead strong { color: var(--ink); font-weight: 620; overflow-wrap: anywhere; }
.card {
  padding: 1.5rem min(1.25rem, 5.5vw);
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: var(--round);
}
main .card > :last-child { margin-bottom: 0; }
dl { margin: 1rem 0 1.5rem; border-top: 1px solid var(--line); }
dl div { display: flex; flex-wrap: wrap; padding: .625rem 0; border-bottom: 1px solid var(--line); }
dt { flex: 0 1 6.25rem; color: var(--muted); }
dd { flex: 1 1 8rem; min-width: 0; margin: 0; overflow-wrap: anywhere; word-break: break-word; font-weight: 560; }
label { display: block; margin-bottom: .375rem; font-weight: 560; }
input {
  display: block;
  width: 100%;
  min-height: 3rem;
  margin: 0 0 1.125rem;
  padding: .625rem .875rem;
  color: var(--ink);
  background: var(--card);
  border: 1px solid var(--edge);
  border-radius: var(--round-small);
  font: inherit;
  -webkit-appearance: none;
  appearance: none;
}
input[aria-invalid="true"] { border-color: var(--red); }
button, .button {
  display: block;
  width: 100%;
  min-height: 3rem;
  padding: .6875rem min(1rem, 4.5vw);
  color: var(--on-accent);
  background: var(--accent);
  border: 1px solid transparent;
  border-radius: var(--round-small);
  font: inherit;
  font-weight: 620;
  line-height: 1.5;
  text-align: center;
  text-decoration: none;
  overflow-wrap: anywhere;
  word-break: break-word;
  cursor: pointer;
  -webkit-appearance: none;
  appearance: none;
}
button:hover { background: var(--accent-hover); }
.quiet { color: var(--ink); background: transparent; border-color: var(--edge); }
.quiet:hover, button.quiet:hover { background: var(--ground); }
input:focus, button:focus, a:focus { outline: 3px solid var(--accent); outline-offset: 2px; }
button:focus:not(:focus-visible), a:focus:not(:focus-visible) { outline: none; }
a { color: var(--accent); text-underline-offset: .15em; }
a.button { color: var(--ink); }
.or { display: flex; align-items: center; margin: 1.25rem 0; color: var(--muted); font-size: .875rem; }
.or::before, .or::after { content: ""; flex: 1 1 auto; height: 1px; background: var(--line); }
.or span { padding: 0 .75rem; }
.message { margin: 1rem 0 1.25rem; padding: .75rem 1rem; border-left: 4px solid; border-radius: 4px; outline: none; }
.message p { margin: 0; overflow-wrap: anywhere; word-break: break-word; }
.message p + p { margin-top: .375rem; }
.error { color: var(--ink); background: var(--red-soft); border-color: var(--red); }
.notice { background: var(--accent-soft); border-color: var(--accent); }
.hint { margin: 1rem 0 0; font-size: .875rem; color: var(--muted); }
code { font: .875em/1.5 var(--mono); overflow-wrap: anywhere; word-break: break-word; }
pre { margin: .5rem 0 0; padding: .5rem .75rem; background: var(--card); border-radius: 0.25rem; white-space: pre-wrap; font-size: .9375rem; }
ul { margin: 1.25rem 0 0; padding: 0; list-style: none; }
li { padding: 1.125rem 0; border-top: 1px solid var(--line); }
li:last-child { padding-bottom: 0; }
.facts { margin: .25rem 0 .875rem; color: var(--muted); font-size: .9375rem; overflow-wrap: anywhere; word-break: break-word; }
.facts span { display: block; }
.top { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; }
.link {
  width: auto;
  min-height: 1.75rem;
  margin: 0 -.25rem;
  padding: .125rem .25rem;
  color: var(--accent);
  background: none;
  font-weight: 500;
  text-decoration: underline;
  text-underline-offset: .15em;
  white-space: nowrap;
}
.link:hover, button.link:hover { background: none; color: var(--accent-hover); }
@media (min-width: 34rem) {
  header { padding-top: 10vh; }
  .wide-frame { padding-top: 3rem; }
  .card { padding: 2rem 2rem 2.125rem; }
  .device { display: flex; align-items: center; justify-content: space-between; }
  .device form { flex: 0 0 auto; margin-left: 1.5rem; }
  .device .facts { margin-bottom: 0; }
  .device button { width: auto; min-height: 2.5rem; padding: .4375rem 1rem; }
}
`;
