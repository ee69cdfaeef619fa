// Strict decoding, as the programs that call an API of this contract do it: what is required must be there in its type,
// what is optional may be absent or null and otherwise must be of its type, and one fault refuses the whole answer.

/** Thrown where a program would refuse the answer; the message says which field. */
export class DecodingError extends Error {
  override name = 'DecodingError';
}

/** Reads one value, which stands at this place in the answer. Throws a DecodingError. */
export type Decode<T> = (value: unknown, place: string) => T;

const typed =
  <T>(what: string, is: (value: unknown) => boolean): Decode<T> =>
  (value, place) => {
    if (!is(value)) throw new DecodingError(`${place} is not ${what}: ${JSON.stringify(value)?.slice(0, 80)}`);
    return value as T;
  };

export const string = typed<string>('a string', (value) => typeof value === 'string');
export const boolean = typed<boolean>('a boolean', (value) => typeof value === 'boolean');
export const integer = typed<number>('an integer', (value) => Number.isSafeInteger(value));
/** An integer that is not negative (Swift's UInt, Go's uint). */
export const unsigned = typed<number>(
  'an unsigned integer',
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
);
export const filled = typed<string>('a string with text', (value) => typeof value === 'string' && value !== '');
/** Whatever stands there, as long as the key does. */
export const present = typed<unknown>('present', (value) => value !== undefined);

// RFC 3986, appendix A, of URIs with an authority. Foundation's URL(string:) before iOS 17 takes these alone.
const urlPattern = (() => {
  const unreserved = "[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2}|[!$&'()*+,;=]";
  const pchar = `(?:${unreserved}|[:@])`;
  const host = `(?:(?:${unreserved})+|\\[[0-9A-Fa-f:.]+\\])`;
  return new RegExp(
    `^[A-Za-z][A-Za-z0-9+.-]*://(?:(?:${unreserved}|:)*@)?${host}(?::[0-9]*)?(?:/(?:${pchar}|/)*)?(?:\\?(?:${pchar}|[/?])*)?(?:#(?:${pchar}|[/?])*)?$`,
  );
})();

/** Whether URL(string:) of iOS would make a URL with a host of this text: not empty, no blanks, ASCII alone. */
export const isUrl = (text: string): boolean => urlPattern.test(text);
export const url = typed<string>('a URL', (value) => typeof value === 'string' && isUrl(value));

/** Absent and null are alike, as in Swift's decodeIfPresent and Go's pointers. */
export const optional =
  <T>(decode: Decode<T>): Decode<T | undefined> =>
  (value, place) =>
    value === undefined || value === null ? undefined : decode(value, place);

export const array =
  <T>(decode: Decode<T>): Decode<T[]> =>
  (value, place) => {
    if (!Array.isArray(value)) throw new DecodingError(`${place} is not an array`);
    return value.map((item, index) => decode(item, `${place}[${index}]`));
  };

/** An object with at least these fields. */
export const object =
  <Fields extends Record<string, Decode<unknown>>>(
    fields: Fields,
  ): Decode<{ [Name in keyof Fields]: ReturnType<Fields[Name]> }> =>
  (value, place) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new DecodingError(`${place} is not an object`);
    }
    const entries = Object.entries(fields).map(([name, decode]) => [
      name,
      decode((value as Record<string, unknown>)[name], `${place}.${name}`),
    ]);
    return Object.fromEntries(entries);
  };
