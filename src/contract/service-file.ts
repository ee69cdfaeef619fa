import { z } from 'zod';

/** What the people who run this service say of it, in `data/service.yaml`. */
export const serviceSchema = z.strictObject({
  name: z.string().min(1),
  contact_email: z.email(),
  copyright: z.string().min(1),
  /** Day on which the privacy policy last changed; package managers ask their users again when it does. */
  privacy_updated: z.iso.date(),
});
export type Service = z.infer<typeof serviceSchema>;
