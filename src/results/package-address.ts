import { encodeFileName } from '../contract/filenames.ts';

/**
 * The folder of a package's page below `/package/`: the encoded identifier. A page is a folder with an index.html,
 * which every static host answers alike. The file names of documents also serve as folder names, except that a folder
 * must not begin with a dot, which would hide it, nor end with one, which some disks drop.
 */
export const packageFolder = (id: string): string =>
  encodeFileName(id)
    .split('/')
    .map((segment) => segment.replaceAll(/^\.|\.$/g, '=2e'))
    .join('/');

/** The address of a package's page, below the root of the site: with a trailing slash and no leading one. */
export const packageAddress = (id: string): string => `package/${packageFolder(id)}/`;
