import { encodeFileName } from '../contract/filenames.ts';

/**
 * The folder of a package's page below `/package/`: the encoded identifier. A page is a folder with an index.html in it,
 * which every static host answers alike. The file names of the documents serve as folder names, except that a folder must
 * not begin with a dot, which hides it from hosts and people, nor end with one, which some disks drop.
 */
export const packageFolder = (id: string): string =>
  encodeFileName(id)
    .split('/')
    .map((segment) => segment.replaceAll(/^\.|\.$/g, '=2e'))
    .join('/');

/** The address of a package's page, below the root of the site: with a slash at its end and none at its beginning. */
export const packageAddress = (id: string): string => `package/${packageFolder(id)}/`;
