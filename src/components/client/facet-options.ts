import { type FacetCounts, type FacetName, facetNames } from '../../results/chosen-facets.ts';

// What results can be narrowed to stands in select elements, each option with how many there are of it. What there is none
// of is left out: phones show options that are hidden.

interface Option {
  readonly value: string;
  readonly text: string;
}

/** The select elements of the facets, and what they offer. */
export const createFacetOptions = (select: (name: FacetName) => HTMLSelectElement) => {
  const all = new Map<FacetName, readonly Option[]>(
    facetNames.map((name) => [name, [...select(name).options].map(({ value, text }) => ({ value, text }))]),
  );
  const write = (name: FacetName, options: readonly Option[]) => {
    const element = select(name);
    const { value } = element;
    element.replaceChildren(...options.map((one) => new Option(one.text, one.value)));
    element.value = value;
  };
  return {
    /** Offers what there is, the most first; `isPart` where not all was counted, so that there may be more of anything. */
    show: (counts: FacetCounts, isPart: boolean): void => {
      for (const name of facetNames) {
        // What is being chosen from stays as it is.
        if (select(name) === document.activeElement) continue;
        const counted = counts[name];
        const options = (all.get(name) ?? []).filter(
          ({ value }) => value === '' || isPart || counted.has(value) || value === select(name).value,
        );
        const countOf = ({ value }: Option) => counted.get(value) ?? 0;
        const ordered =
          name === 'section' || name === 'repository'
            ? [...options].sort((a, b) => Number(b.value === '') - Number(a.value === '') || countOf(b) - countOf(a))
            : options;
        write(
          name,
          ordered.map((one) =>
            one.value === '' || (isPart && !counted.has(one.value))
              ? one
              : { ...one, text: `${one.text} (${countOf(one).toLocaleString('en-US')}${isPart ? '+' : ''})` },
          ),
        );
      }
    },
    /** Offers everything, uncounted. */
    reset: (): void => {
      for (const name of facetNames) write(name, all.get(name) ?? []);
    },
  };
};
