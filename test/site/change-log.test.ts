import { expect, it } from 'vitest';
import { changesForOperators, changesForUsers } from '../../src/site/change-log.ts';

const html = `<h1 id="changes">Changes</h1>
<p>Clients may rely on it.</p>
<h2 id="unreleased">Unreleased</h2>
<h3 id="for-clients">For clients</h3>
<p>one</p>
<h3 id="for-operators">For operators</h3>
<h4 id="builds">Builds</h4>
<p>two</p>
<h2 id="020">0.2.0</h2>
<h3 id="for-operators-1">For operators</h3>
<p>three</p>
<h3 id="on-the-site">On the site</h3>
<p>five</p>
<h2 id="010">0.1.0</h2>
<p>four</p>`;

it('the list of changes is told to users and to operators apart, and nothing of it to neither', () => {
  const [users, operators] = [changesForUsers(html), changesForOperators(html)];
  const told = (text: string) => ['rely', 'one', 'two', 'three', 'four', 'five'].filter((word) => text.includes(word));
  expect(told(users)).toEqual(['rely', 'one', 'four', 'five']);
  expect(told(operators)).toEqual(['two', 'three']);
  expect(operators.match(/<h[1-4]/g)).toEqual(['<h2', '<h3', '<h4', '<h2', '<h3']);
  expect(users.match(/<h[1-4]/g)).toEqual(['<h2', '<h3', '<h2', '<h3', '<h2']);
});
