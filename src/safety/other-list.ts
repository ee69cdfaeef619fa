import type { SafetyList } from './safety-list.ts';

/**
 * Says that the safety list of a server calls safe what is published as unsafe, so that programs are told the opposite
 * of what the page /safety/ says; undefined if it does not. `hosts` are those that are published as unsafe, `list` names
 * the server's list, and `others` says whose list that of the publication is, and what to do.
 */
export const describeOtherList = (
  hosts: readonly string[],
  { check }: Pick<SafetyList, 'check'>,
  list: string,
  others: string,
): string | undefined => {
  const [first, ...more] = hosts.filter((host) => check(`https://${host}/`));
  if (first === undefined) return undefined;
  const [further, are] = more.length === 0 ? ['', 'is'] : [` and ${more.length} more`, 'are'];
  return `The safety check calls ${first}${further} safe, which ${are} published as unsafe: ${list} is another list than that of ${others}`;
};
