// What package managers of jailbroken devices make up from the device itself, as packages that nobody can install: `firmware`
// has the version of iOS as its version, `gsc.…` are its capabilities, and `cy+…` its kernel, processor and model (Cydia).

/** Whether a relation to a package of this name is one to the device. */
export const isOfDevice = (name: string): boolean =>
  name === 'firmware' || name.startsWith('gsc.') || name.startsWith('cy+');

// A row has room for no more, and of a stranger's field no more is read: the first name what it is about.
const mostDemands = 2;
const mostAlternatives = 3;
const longestField = 20_000;
const demand = /^((?:cy\+|gsc\.)[\w.+-]{1,40})(?::any)?(?=$|[\s(])/;

/**
 * What a Depends or Pre-Depends asks of the device besides its firmware, in words: names of packages, with `or` between
 * alternatives. A relation that another package satisfies as well asks nothing. Never throws; takes time in proportion to
 * the field.
 */
export const readDemands = (field: string | null | undefined): string[] => {
  if (!field?.includes('cy+') && !field?.includes('gsc.')) return [];
  return field
    .slice(0, longestField)
    .split(',')
    .flatMap((group) => {
      const names = group.split('|').map((text) => demand.exec(text.trim())?.[1] ?? '');
      return names.includes('') ? [] : [names.slice(0, mostAlternatives).join(' or ')];
    })
    .slice(0, mostDemands);
};
