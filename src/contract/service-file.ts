import { z } from 'zod';

/** The description of the service by the people who run it, in `data/service.yaml`. */
export const serviceSchema = z.strictObject({
  name: z.string().min(1).describe('What pages, feeds, badges and documents call the service.'),
  contact_email: z.email().describe('Shown to people, and to origins in the User-Agent of the crawler.'),
  copyright: z.string().min(1),
  privacy_updated: z.iso
    .date()
    .describe('Day on which the privacy policy last changed; package managers ask their users again when it does.'),
  native_depictions: z
    .boolean()
    .optional()
    .describe(
      'Whether builds ask for the native depictions that packages name, and pages show what they may of them. Not unless it is true: each costs its origin a request at first, and one a week.',
    ),
  share_pictures: z
    .enum(['some', 'all'])
    .optional()
    .describe(
      'Which packages have a share picture of their own, which previews of their pages show: those that are new, updated or much downloaded, some hundreds at most, or all of them. Drawing one takes some ten milliseconds, once.',
    ),
});
export type Service = z.infer<typeof serviceSchema>;

// Names that belong to nobody (RFC 2606; RFC 6761, section 6), and those of the machine itself.
const reserved = /(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid|localhost)$/i;
const loopback = /^(?:127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Whether strangers can reach what is published at this address: its host is neither reserved nor the machine itself.
 */
export const isReachable = (base: string): boolean => {
  const { hostname } = new URL(base);
  const name = hostname.replace(/\.$/, '');
  return !reserved.test(name) && !loopback.test(name);
};

/** Whether a mail address is an example, so that mail to it reaches nobody. */
export const isExampleAddress = (email: string): boolean => reserved.test(email.slice(email.lastIndexOf('@') + 1));
