import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readService } from '../../scripts/read-service.ts';

it('dates the privacy policy as the landing document does, because clients ask again when that changes', () => {
  const policy = readFileSync(new URL('../../src/public/privacy.txt', import.meta.url), 'utf8');
  expect(policy).toContain(`Last changed on ${readService().privacy_updated}\n`);
});
