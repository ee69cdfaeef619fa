import { z } from 'zod';

/** What shields.io draws a badge of (its endpoint schema, version 1), as far as the badges here use it. */
export const badgeSchema = z.strictObject({
  schemaVersion: z.literal(1),
  label: z.string().min(1).describe('The text on the left: who says it.'),
  message: z.string().min(1).describe('The text on the right: how the repository fares.'),
  color: z
    .string()
    .regex(/^#[0-9a-f]{6}$/)
    .describe('The ground of the right side.'),
  labelColor: z
    .string()
    .regex(/^#[0-9a-f]{6}$/)
    .describe('The ground of the left side.'),
  isError: z.boolean().describe('Whether nothing of the repository could ever be read.'),
});
/** A badge of a repository. */
export type Badge = Readonly<z.infer<typeof badgeSchema>>;
