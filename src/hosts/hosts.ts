import { caddyRules } from './caddy.ts';
import { cloudflarePagesRules, cloudflareWorkersRules } from './cloudflare.ts';
import type { HostRules, RuleInput } from './host-rules.ts';
import { netlifyRules } from './netlify.ts';
import { nginxRules } from './nginx.ts';

/** The hosts that there are rules for, by the name that `npm run rules` takes. */
export const hosts = {
  nginx: nginxRules,
  caddy: caddyRules,
  'cloudflare-workers': cloudflareWorkersRules,
  'cloudflare-pages': cloudflarePagesRules,
  netlify: netlifyRules,
} as const satisfies Readonly<Record<string, (input: RuleInput) => HostRules>>;
export type HostName = keyof typeof hosts;

export const isHost = (name: string): name is HostName => Object.hasOwn(hosts, name);
