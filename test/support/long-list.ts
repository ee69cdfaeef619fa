import { packages } from './catalog.ts';

/**
 * The text of an index with this many records, not in the order of their list. Most packages have one record; some have
 * many versions and architectures, which cross the ends of pages of any size.
 */
export const orderlessPackages = (count: number): string => {
  const numbers = Array.from({ length: count }, (_, index) => (index * 1013) % count);
  return packages(
    ...[...new Set(numbers)].map((number) => ({
      // From the 900th on, hundreds of records of one package, which cross the end of a page.
      Package: `com.example.p${String(number >= 900 && number < 1400 ? 900 : number - (number % 40 < 3 ? number % 40 : 0)).padStart(5, '0')}`,
      Version: `1.${(number * 7) % 1000}${number % 3 === 0 ? '~beta' : ''}`,
      Architecture: number % 2 === 0 ? 'iphoneos-arm' : 'iphoneos-arm64',
      Description: `Number ${number}, "ä", ${'x'.repeat(number % 90)}`,
    })),
  );
};
