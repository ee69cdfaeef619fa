import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { chooseLimits } from '../../functions/node/limits.ts';
import { createPlaces } from '../../functions/node/places.ts';

const openSocket = () => Object.assign(new EventEmitter(), { destroy: () => {} }) as unknown as Socket;

it('H8 places hold nothing of clients that found none, that had to make room, or that have gone', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const places = createPlaces(chooseLimits({ connections: 1 }), { areProxied: false, count: () => {} });
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let number = 0; number < 10_000; number++) {
    const site = `2001:${(number >> 8).toString(16)}:${(number & 255).toString(16)}`;
    const busy = openSocket();
    expect(places.take(openSocket(), `${site}:0`)).toBeDefined();
    places.take(busy, `${site}:1`)?.beginRequest();
    expect(places.take(openSocket(), `${site}:2`)).toBeUndefined();
    expect(places.take(openSocket(), `2002:0:${number.toString(16)}:0`)).toBeUndefined();
    busy.emit('close');
  }
  collect();
  // What is held of a connection is about a kilobyte.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 * 2 ** 20);
  expect(places.take(openSocket(), '192.0.2.1')).toBeDefined();
});
