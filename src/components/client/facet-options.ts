import { type FacetCounts, type FacetName, facetNames } from '../../results/chosen-facets.ts';

// The filters are select elements, whose options have the number of matching packages. Options without any are removed
// rather than hidden, because phones show hidden options.

interface Option {
  readonly value: string;
  readonly text: string;
}

/** The select elements of the filters, and their options. */
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
    /**
     * Shows the options that match anything, the most frequent first. `isPart`: not everything was counted, so there
     * may be more of each.
     */
    show: (counts: FacetCounts, isPart: boolean): void => {
      for (const name of facetNames) {
        // An element that is being used stays as it is.
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
    /** Shows all options, without numbers. */
    reset: (): void => {
      for (const name of facetNames) write(name, all.get(name) ?? []);
    },
  };
};
