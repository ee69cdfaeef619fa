/** Serializes a call of a store, or its result, including bytes and undefined, which JSON does not have. */
export const writeValue = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => {
    if (one === undefined) return { $: 'undefined' };
    if (one instanceof Uint8Array) return { $: 'bytes', of: Array.from(one) };
    // Node's bytes arrive in the form that their toJSON returns.
    if (isNodeBytes(one)) return { $: 'bytes', of: one.data };
    return one;
  });

const isNodeBytes = (one: unknown): one is { readonly data: number[] } =>
  typeof one === 'object' && one !== null && 'type' in one && one.type === 'Buffer' && 'data' in one;

/** Parses such a text. */
export const readValue = (text: string): unknown => revive(JSON.parse(text));

const revive = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== 'object' || value === null) return value;
  if ('$' in value) return value.$ === 'bytes' && 'of' in value ? Uint8Array.from(value.of as number[]) : undefined;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revive(each)]));
};
