import type { FollowerEvent } from '../../src/following/follower.ts';
import type { ToldEvent } from '../gateway/on-node.ts';
import type { UnhealthyEvent } from '../health/unhealthy-log.ts';
import type { RefusalEvent } from './refusals.ts';

/** What a server tells its operator. */
export type ServerEvent = RefusalEvent | UnhealthyEvent | FollowerEvent | ToldEvent;
