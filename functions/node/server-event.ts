import type { FollowerEvent } from '../../src/following/follower.ts';
import type { ToldEvent } from '../gateway/on-node.ts';
import type { UnhealthyEvent } from '../health/unhealthy-log.ts';
import type { RefusalEvent } from './met-limits.ts';

/** That the database of the download counters is away, or back. */
interface DownloadsEvent {
  readonly time: string;
  readonly event: 'downloads-away' | 'downloads-back';
  readonly reason?: string;
}

/** That the safety list was changed and cannot be used; the one before stays in force. */
interface SafetyListEvent {
  readonly time: string;
  readonly event: 'safety-list';
  readonly reason: string;
}

/** What a server tells its operator. */
export type ServerEvent = DownloadsEvent | SafetyListEvent | RefusalEvent | UnhealthyEvent | FollowerEvent | ToldEvent;
