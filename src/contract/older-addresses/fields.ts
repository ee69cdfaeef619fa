type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields of a record that a client asked for, in the record's order: `name` is a field, `repository.uri` a field of
 * the record in a field. Unknown names are ignored; without a list all fields are returned.
 */
export const pickFields = (record: Fields, names: readonly string[] | undefined): Fields => {
  if (names === undefined) return record;
  return Object.fromEntries(
    Object.entries(record).flatMap(([key, value]) => {
      if (names.includes(key)) return [[key, value]];
      const inner = names.filter((name) => name.startsWith(`${key}.`)).map((name) => name.slice(key.length + 1));
      if (inner.length === 0 || typeof value !== 'object' || value === null) return [];
      return [[key, inner.includes('*') ? value : pickFields(value as Fields, inner)]];
    }),
  );
};
