import { expect, it } from 'vitest';
import { createRooms } from '../../functions/http/rooms.ts';

it('H10 requests take what is left for their client, and for all together, to the last byte and no further', () => {
  const rooms = createRooms({ all: 100, each: 40 });
  const first = rooms.open('203.0.113.1');
  first.take(30);
  first.take(10);
  expect(() => first.take(1)).toThrow(expect.objectContaining({ status: 429 }));
  // Another request of the same client has what that one leaves.
  const second = rooms.open('203.0.113.1');
  expect(() => second.take(1)).toThrow(expect.objectContaining({ status: 429 }));
  first.give(15);
  second.take(15);
  expect(() => first.take(1)).toThrow(expect.objectContaining({ status: 429 }));
  rooms.open('203.0.113.2').take(40);
  const last = rooms.open('203.0.113.3');
  last.take(20);
  expect(() => last.take(1)).toThrow(expect.objectContaining({ status: 503 }));
  // What was refused took nothing, and what is closed gives all back.
  first.close();
  last.take(20);
  const other = rooms.open('203.0.113.4');
  expect(() => other.take(6)).toThrow(expect.objectContaining({ status: 503 }));
  other.take(5);
  second.close();
  rooms.open('203.0.113.1').take(15);
});
