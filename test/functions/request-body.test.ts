import { describe, expect, it } from 'vitest';
import { readBytes } from '../../functions/http/request-body.ts';

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
