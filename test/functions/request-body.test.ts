import { describe, expect, it } from 'vitest';
import { readBytes, readJson } from '../../functions/http/request-body.ts';
import { createRooms } from '../../functions/http/rooms.ts';

const requestOf = (chunks: Iterator<Uint8Array>): Request => {
  const pull = (controller: ReadableStreamDefaultController) => {
    const { done, value } = chunks.next();
    if (done) controller.close();
    else controller.enqueue(value);
  };
  // None is made before it is asked for.
  const body = new ReadableStream({ pull }, { highWaterMark: 0 });
  return new Request('http://localhost/', { method: 'POST', body, duplex: 'half' } as RequestInit);
};

describe('H8 a body that comes byte by byte', () => {
  // One piece of memory for all of them: whoever kept the chunks would find the last of them everywhere.
  function* byteByByte(length: number) {
    const chunk = new Uint8Array(1);
    for (let at = 0; at < length; at++) {
      chunk[0] = at % 251;
      yield chunk;
    }
  }

  it.each([0, 1, 1023, 1024, 1025, 4096, 10_000])('is held as its %i bytes alone', async (length) => {
    const bytes = await readBytes(requestOf(byteByByte(length)), 10_000);
    expect(bytes).toEqual(Uint8Array.from({ length }, (_, at) => at % 251));
  });

  it('is refused at the first byte too many', async () => {
    const chunks = byteByByte(100);
    await expect(readBytes(requestOf(chunks), 50)).rejects.toMatchObject({ status: 413 });
    expect([...chunks].length).toBeGreaterThan(40);
  });
});

it.each([
  [null, undefined],
  ['application/json', undefined],
  ['application/vnd.example+json;charset=utf-8', undefined],
  ['text/plain', 415],
  ['application/jsonp', 415],
])('a body of the type %s is read as JSON, or refused with %s', async (type, status) => {
  const headers = type === null ? {} : { 'content-type': type };
  const request = new Request('http://localhost/', { method: 'POST', headers, body: Buffer.from('{"a":1}') });
  const read = readJson(request, 100).catch((error: { status: number }) => error.status);
  expect(await read).toEqual(status ?? { a: 1 });
});

describe('H10 the room of bodies', () => {
  const refusal = (take: () => void): number | undefined => {
    try {
      take();
      return undefined;
    } catch (error) {
      return (error as { status: number }).status;
    }
  };

  it('ends for a client, by its network, and for all together, until what they have is given back', () => {
    const rooms = createRooms({ all: 100, each: 40 });
    const [one, other, more, last] = ['192.0.2.1', '2001:db8::1', '2001:db8::2', '192.0.2.2'].map(rooms.open);
    one?.take(40);
    expect(refusal(() => one?.take(1))).toBe(429);
    other?.take(30);
    expect(refusal(() => more?.take(11))).toBe(429);
    more?.take(10);
    expect(refusal(() => last?.take(21))).toBe(503);
    last?.take(20);
    one?.close();
    last?.take(20);
    expect(refusal(() => last?.take(1))).toBe(429);
    one?.take(20);
    expect(refusal(() => one?.take(1))).toBe(503);
  });

  it('is taken as a body grows, and not by what is small', async () => {
    const taken: number[] = [];
    const room = { take: (bytes: number) => taken.push(bytes) };
    const send = (length: number) => readBytes(requestOf([new Uint8Array(length)].values()), 2 ** 18, room);
    await send(4096);
    expect(taken).toEqual([]);
    for (const length of [4097, 100_000, 200_000, 2 ** 18]) await send(length);
    expect(taken).toEqual([8194 - 1024, 200_000 - 1024, 2 ** 18 - 1024, 2 ** 18 - 1024]);
  });
});
