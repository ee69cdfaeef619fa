// Control characters, and marks that change the direction of the text after them (UAX #9); the page gives each text a
// direction of its own. Line breaks and tabs stay, and so do joiners, which emoji and scripts need.
const unreadable = /[^\P{Cc}\t\n]|[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

/** A stranger's text without invisible characters, with line feeds as line ends, and well formed. */
export const readable = (text: string): string =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(unreadable, '')
    .toWellFormed();
