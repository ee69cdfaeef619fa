import { packages } from './catalog.ts';

/**
 * The text of an index of so many records, not in the order of their list: of packages of one record, and some of many
 * versions and architectures, which lie across the ends of pages of any size.
 */
export const orderlessPackages = (count: number): string => {
  const numbers = Array.from({ length: count }, (_, index) => (index * 1013) % count);
  return packages(
    ...[...new Set(numbers)].map((number) => ({
      // From the 900th on hundreds of one package, of which the first page has some and the second the others.
      Package: `com.example.p${String(number >= 900 && number < 1400 ? 900 : number - (number % 40 < 3 ? number % 40 : 0)).padStart(5, '0')}`,
      Version: `1.${(number * 7) % 1000}${number % 3 === 0 ? '~beta' : ''}`,
      Architecture: number % 2 === 0 ? 'iphoneos-arm' : 'iphoneos-arm64',
      Description: `Number ${number}, "ä", ${'x'.repeat(number % 90)}`,
    })),
  );
};
