export type { Piece as LinePiece } from '../depictions/depiction.ts';

import type { Block, Depiction } from '../depictions/depiction.ts';
import { contrastOf } from '../depictions/tint.ts';

/** What the page of a package shows of its native depiction. */
export interface ShownDepiction {
  /** The host that the depiction comes from. */
  readonly host: string;
  /** "#rrggbb", if it has enough contrast in both themes. */
  readonly tint: string | undefined;
  readonly sections: readonly { readonly title: string | null; readonly parts: readonly Part[] }[];
  readonly screenshots:
    | { readonly invitation: string; readonly list: readonly { readonly url: string; readonly text: string }[] }
    | undefined;
}

/** Consecutive facts form one list. */
export type Part =
  | Exclude<Block, { kind: 'fact' }>
  | { readonly kind: 'facts'; readonly facts: readonly { readonly title: string; readonly text: string }[] };

/** The backgrounds of the pages, light and dark (`--ground` in tokens.css). */
export const grounds = ['#f5f2ea', '#0f1312'] as const;

/** The least contrast for anything but text (WCAG 2.2, 1.4.11). */
const leastContrast = 3;

const toParts = (blocks: readonly Block[]): Part[] => {
  const parts: Part[] = [];
  let facts: { title: string; text: string }[] | undefined;
  for (const block of blocks) {
    if (block.kind !== 'fact') {
      facts = undefined;
      parts.push(block);
      continue;
    }
    const { title, text } = block;
    if (facts === undefined) {
      facts = [];
      parts.push({ kind: 'facts', facts });
    }
    facts.push({ title, text });
  }
  return parts;
};

const hostOf = (url: string): string => new URL(url).hostname;

const inviteTo = (screenshots: Depiction['screenshots']): string => {
  const [first = '', ...others] = new Set(screenshots.map(({ url }) => hostOf(url)));
  const what = screenshots.length === 1 ? 'the screenshot' : `${screenshots.length} screenshots`;
  const more =
    others.length === 0 ? '' : others.length === 1 ? ' and one more host' : ` and ${others.length} more hosts`;
  return `Show ${what} from ${first}${more}`;
};

/** What is shown of the depiction that was kept of an address; undefined if there is none. */
export const showDepiction = (depiction: Depiction | undefined, address: string | null): ShownDepiction | undefined => {
  if (depiction === undefined || address === null) return undefined;
  const { tint, sections, screenshots } = depiction;
  const isSeen = tint !== null && grounds.every((ground) => contrastOf(tint, ground) >= leastContrast);
  return {
    host: hostOf(address),
    tint: isSeen ? tint : undefined,
    sections: sections.map(({ title, blocks }) => ({ title, parts: toParts(blocks) })),
    screenshots:
      screenshots.length === 0
        ? undefined
        : {
            invitation: inviteTo(screenshots),
            list: screenshots.map(({ url, text }, place) => ({
              url,
              text: text === '' ? `Screenshot ${place + 1}` : text,
            })),
          },
  };
};
