import type { Operation } from './databases.ts';

export const findOrAddKey: Operation<'findOrAddKey'> = async ({ read, transact }, name, fresh) => {
  const known = await read.selectFrom('gateway_keys').select('key').where('name', '=', name).executeTakeFirst();
  if (known) return known.key;
  return transact(async (transaction) => {
    await transaction
      .insertInto('gateway_keys')
      .values({ name, key: fresh })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    // Another replica may have been first.
    const { key } = await transaction
      .selectFrom('gateway_keys')
      .select('key')
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    return key;
  });
};
