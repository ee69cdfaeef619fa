/** After so many milliseconds without an answer of the index, a page searches the files. */
export const patience = 1200;
