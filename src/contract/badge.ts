import { z } from 'zod';

/** The part of the input of shields.io (its endpoint schema, version 1) that the badges here use. */
export const badgeSchema = z.strictObject({
  schemaVersion: z.literal(1),
  label: z.string().min(1).describe('The text on the left: the name of this service.'),
  message: z.string().min(1).describe('The text on the right: the state of the repository.'),
  color: z
    .string()
    .regex(/^#[0-9a-f]{6}$/)
    .describe('Background of the right side.'),
  labelColor: z
    .string()
    .regex(/^#[0-9a-f]{6}$/)
    .describe('Background of the left side.'),
  isError: z.boolean().describe('Whether it could never be read, or is unsafe.'),
});
/** A badge of a repository. */
export type Badge = Readonly<z.infer<typeof badgeSchema>>;
