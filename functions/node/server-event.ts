import type { FollowerEvent } from '../../src/following/follower.ts';
import type { ToldEvent } from '../gateway/on-node.ts';
import type { UnhealthyEvent } from '../health/unhealthy-log.ts';
import type { RefusalEvent } from './refusals.ts';

/** That the database of the download counters is away, or back. */
interface DownloadsEvent {
  readonly time: string;
  readonly event: 'downloads-away' | 'downloads-back';
  readonly reason?: string;
}

/** What a server tells its operator. */
export type ServerEvent = DownloadsEvent | RefusalEvent | UnhealthyEvent | FollowerEvent | ToldEvent;
