import { z } from 'zod';
import { webUrl } from '../apt/urls.ts';

// What of a native depiction is kept and shown: nothing else of it gets past the reader, so what is added to the format
// later, or by whoever writes one, is not shown until it stands here.

const text = z.string();
// A link that could be something else is none: kept files are read as strictly as they are written.
const link = z.string().refine((address) => webUrl(address) !== null);

const pieceSchema = z.strictObject({
  text,
  href: link.optional(),
  style: z.enum(['strong', 'emphasis', 'code']).optional(),
});
/** Words of one kind in a line: plain, set off, or a link over http(s). */
export type Piece = Readonly<z.infer<typeof pieceSchema>>;

const line = z.array(pieceSchema);

const blockSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('heading'), line }),
  z.strictObject({ kind: z.literal('paragraph'), lines: z.array(line) }),
  z.strictObject({ kind: z.literal('list'), ordered: z.boolean(), lines: z.array(line) }),
  z.strictObject({ kind: z.literal('code'), text }),
  z.strictObject({ kind: z.literal('fact'), title: text, text }),
  z.strictObject({ kind: z.literal('rule') }),
]);
/** One part of a text, as Markdown and the views of a depiction have them. */
export type Block = Readonly<z.infer<typeof blockSchema>>;

export const depictionSchema = z.strictObject({
  /** The colour of its choice, "#rrggbb"; null where it names none that is understood. */
  tint: z
    .string()
    .regex(/^#[0-9a-f]{6}$/)
    .nullable(),
  /** What its tabs say, in their order; a tab without words is left out. */
  sections: z.array(z.strictObject({ title: text.nullable(), blocks: z.array(blockSchema) })),
  /** Pictures, which nobody but the browser of a visitor who asks for them loads, and what they show. */
  screenshots: z.array(z.strictObject({ url: link, text })),
});
/** A native depiction, as far as it may be shown. */
export type Depiction = Readonly<z.infer<typeof depictionSchema>>;
