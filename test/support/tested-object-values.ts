/** Writes what is asked of a store, or what it answers: bytes and what is undefined too, which JSON has not. */
export const writeValue = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => {
    if (one === undefined) return { $: 'undefined' };
    if (one instanceof Uint8Array) return { $: 'bytes', of: Array.from(one) };
    // Node's bytes come as they would be written.
    if (isNodeBytes(one)) return { $: 'bytes', of: one.data };
    return one;
  });

const isNodeBytes = (one: unknown): one is { readonly data: number[] } =>
  typeof one === 'object' && one !== null && 'type' in one && one.type === 'Buffer' && 'data' in one;

/** Reads it. */
export const readValue = (text: string): unknown => revive(JSON.parse(text));

const revive = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== 'object' || value === null) return value;
  if ('$' in value) return value.$ === 'bytes' && 'of' in value ? Uint8Array.from(value.of as number[]) : undefined;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revive(each)]));
};
