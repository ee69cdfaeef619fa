const decoder = new TextDecoder();
const encoder = new TextEncoder();

const percent = '%'.charCodeAt(0);

// The value of a hexadecimal digit, by its character code.
const digits = Object.fromEntries(
  Array.from('0123456789abcdefABCDEF', (digit) => [digit.charCodeAt(0), Number.parseInt(digit, 16)]),
);

// Decodes as tolerant servers do: what is no escape stays, and bytes that are not UTF-8 become U+FFFD.
const decode = (text: string): string => {
  const bytes = encoder.encode(text);
  let length = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    const high = byte === percent ? digits[bytes[index + 1] ?? 0] : undefined;
    const low = high === undefined ? undefined : digits[bytes[index + 2] ?? 0];
    if (high === undefined || low === undefined) bytes[length++] = byte;
    else {
      bytes[length++] = 16 * high + low;
      index += 2;
    }
  }
  return decoder.decode(bytes.subarray(0, length));
};

/** Nobody encodes an address more often than this, and no known server decodes it more often. */
const mostDecodings = 8;

/**
 * Decodes percent-encoding until none is left: to a server that decodes twice, "%2572epo" is "repo". A percent sign
 * that was encoded any number of times becomes one.
 */
export const decodeFully = (text: string): string => {
  let decoded = text;
  for (let pass = 0; pass < mostDecodings && decoded.includes('%'); pass++) {
    const before = decoded;
    decoded = decode(decoded.replace(/%(?:25)+(?=[0-9a-f]{2})/gi, '%'));
    if (decoded === before) break;
  }
  return decoded;
};
