// Packages that package managers of jailbroken devices make up from the device itself and that nobody can install:
// `firmware` has the iOS version as its version, `gsc.…` are the device's capabilities, and `cy+…` its kernel,
// processor and model (Cydia).

/** Whether a package of this name stands for a property of the device. */
export const isOfDevice = (name: string): boolean =>
  name === 'firmware' || name.startsWith('gsc.') || name.startsWith('cy+');

// A row has no room for more, and no more is read of a stranger's field. The first ones say what it is about.
const mostDemands = 2;
const mostAlternatives = 3;
const longestField = 20_000;
const demand = /^((?:cy\+|gsc\.)[\w.+-]{1,40})(?::any)?(?=$|[\s(])/;

/**
 * What a Depends or Pre-Depends requires of the device besides its firmware, in words: names of packages, with `or`
 * between alternatives. A relation that another package can satisfy requires nothing. Never throws; linear in the
 * field.
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
