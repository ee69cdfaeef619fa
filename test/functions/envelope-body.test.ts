import { expect, it } from 'vitest';
import { encode, listBody } from '../../functions/http/envelope-body.ts';

const now = new Date('2026-05-01T00:00:00Z');
const atOnce = <T>(work: () => Promise<T>): Promise<T> => work();

// Three bytes for each unit, so many that what two bytes each would need is room enough and what they need is not.
it.each([32_000, 65_000, 400_000])('writes whole what takes most bytes in UTF-8: %i characters', async (length) => {
  const text = '中'.repeat(length);
  expect(Buffer.from(await encode([text, Buffer.from(text), text], atOnce)).toString()).toBe(text.repeat(3));
  const body = await listBody(now, { count: 2, pieces: [JSON.stringify(text), ',', JSON.stringify('é')] }, atOnce);
  expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({ count: 2, data: [text, 'é'] });
});

it('H8: is refused where it has more bytes than an answer may, of however few characters', async () => {
  const million = '中'.repeat(10 ** 6);
  // Without the bytes, which would be printed.
  const sizeOf = async (times: number) => (await encode(Array(times).fill(million), atOnce)).length;
  expect(await sizeOf(6)).toBe(18 * 10 ** 6);
  await expect(sizeOf(7)).rejects.toMatchObject({
    status: 400,
    message: 'The records asked for are larger than 20 MB together: ask for fewer at once',
  });
});
