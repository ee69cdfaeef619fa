import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, serveBuild } from '../support/built.ts';
import { packages } from '../support/catalog.ts';
import { openSocket } from '../support/raw-http.ts';
import { openConnections } from '../support/wire.ts';

// Words that begin alike and stand in every description: what makes a question expensive.
const vocabulary = Array.from({ length: 400 }, (_, index) => {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  return `${letters[index % 26]}${letters[(index * 7) % 26]}${letters[(index * 11) % 26]}ing${index}`;
});
const wordsFrom = (start: number, count: number) =>
  Array.from({ length: count }, (_, index) => vocabulary[(start * 13 + index * 17) % vocabulary.length]).join(' ');

const letters = [...'abcdefghijklmnopqrstuvwxyz'];
/** The worst that was found: many short words, joined ones, mistakes in each word, pages far behind. */
const expensive = [
  letters.slice(0, 8).join(' '),
  letters.join(' '),
  'a i o n t s r e',
  letters.map((letter) => `${letter}a`).join(' '),
  wordsFrom(3, 20).slice(0, 256),
  wordsFrom(5, 8).replaceAll('ing', 'nig'),
  wordsFrom(7, 8).replaceAll('ing', 'ng'),
  letters.join('.'),
  '0 1 2 3 4 5 6 7 8 9 10 11 12',
  'ab',
].map((text) => `/v2/jailbreak/package/search?q=${encodeURIComponent(text)}&limit=10`);

let server: BuiltServer;
let person: ReturnType<typeof openConnections>;
beforeAll(async () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({
    Package: `com.example.${vocabulary[index % 400]}${index}`,
    Name: `${wordsFrom(index, 2)} ${index}`,
    Author: `Author ${vocabulary[index % 90]}`,
    Description: wordsFrom(index, 40),
  }));
  server = await serveBuild([{ slug: 'large', packages: packages(...many) }], { trustedProxies: 1 });
  person = openConnections(server.port);
});
afterAll(async () => {
  person.close();
  await server.close();
});

// Many more than are answered before others have their turn, seven times; and over many connections, since the questions
// of one are answered one after another however clients take turns.
const connections = 30;
const onEach = 10;
const questions = connections * onEach;

/** Asks all of it at once, and counts what is answered; `done` when all is. */
const flood = async (port: number) => {
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(port)));
  let finished = 0;
  const { promise: done, resolve } = Promise.withResolvers<void>();
  for (const [at, socket] of sockets.entries()) {
    let end = '';
    socket.on('data', (chunk: Buffer) => {
      const text = end + chunk.toString('latin1');
      finished += text.split('HTTP/1.1 200 OK').length - 1;
      end = text.slice(-14);
      if (finished === questions) resolve();
    });
    const requests = Array.from({ length: onEach }, (_, index) => {
      const number = at * onEach + index;
      const target = `${expensive[number % expensive.length]}&page=${1 + (number % 40)}`;
      return `GET ${target} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.1\r\n\r\n`;
    });
    socket.write(requests.join(''));
  }
  return { finished: () => finished, done, end: () => sockets.map((socket) => socket.destroy()) };
};

describe('H6 one client that asks what is expensive', () => {
  it('delays neither lookups nor searches of others until its own are answered', async () => {
    const flooding = await flood(server.port);
    await expect.poll(flooding.finished, { interval: 1 }).toBeGreaterThan(0);

    const headers = { 'x-forwarded-for': '203.0.113.1' };
    const statuses: number[] = [];
    for (const target of [
      '/v2/jailbreak/package/search?q=ing1&limit=10',
      `/v2/jailbreak/package/com.example.${vocabulary[0]}0`,
      '/v2/jailbreak/repository/search?q=large',
      `/v2/jailbreak/package/multi?ids=com.example.${vocabulary[1]}1`,
      '/v2/jailbreak/package/search?q=author&limit=10',
      `/v2/jailbreak/package/com.example.${vocabulary[2]}2`,
      '/v2/',
    ]) {
      statuses.push((await person.send({ method: 'GET', target, headers })).status);
    }
    expect(statuses).toEqual(statuses.map(() => 200));
    // Where no client waits for its turn, nobody is answered before all of the flood is.
    expect(flooding.finished(), 'the flood goes on when all of them are answered').toBeLessThan((questions * 2) / 3);
    await flooding.done;
    flooding.end();
    expect(server.faults).toEqual([]);
  });
});
