import { z } from 'zod';
import { webUrl } from '../apt/urls.ts';

// The part of a native depiction that is kept and shown. The reader drops everything else, so anything that is added to
// the format later, or invented by an author, is not shown until it is listed here.

const text = z.string();
// Only safe links: kept files are read as strictly as they are written.
const link = z.string().refine((address) => webUrl(address) !== null);

const pieceSchema = z.strictObject({
  text,
  href: link.optional(),
  style: z.enum(['strong', 'emphasis', 'code']).optional(),
});
/** Words of one kind in a line: plain, emphasised, or an http(s) link. */
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
/** One part of a text, from Markdown or from the views of a depiction. */
export type Block = Readonly<z.infer<typeof blockSchema>>;

export const depictionSchema = z.strictObject({
  /** The colour that it chose, "#rrggbb"; null if it names none that is understood. */
  tint: z
    .string()
    .regex(/^#[0-9a-f]{6}$/)
    .nullable(),
  /** The content of its tabs, in order. A tab without words is left out. */
  sections: z.array(z.strictObject({ title: text.nullable(), blocks: z.array(blockSchema) })),
  /** Pictures and their descriptions. Only the browser of a visitor who asks for them loads them. */
  screenshots: z.array(z.strictObject({ url: link, text })),
});
/** A native depiction, as far as it may be shown. */
export type Depiction = Readonly<z.infer<typeof depictionSchema>>;
