import type { FollowerEvent } from '../../src/following/follower.ts';
import type { ToldEvent } from '../gateway/on-node.ts';
import type { UnhealthyEvent } from '../health/unhealthy-log.ts';
import type { RefusalEvent } from './met-limits.ts';

/** The database of the download counters became unavailable, or is available again. */
interface DownloadsEvent {
  readonly time: string;
  readonly event: 'downloads-away' | 'downloads-back';
  readonly reason?: string;
}

/** The changed safety list cannot be used, so the one before stays in force. */
interface SafetyListEvent {
  readonly time: string;
  readonly event: 'safety-list';
  readonly reason: string;
}

/** An event that a server reports to its operator. */
export type ServerEvent = DownloadsEvent | SafetyListEvent | RefusalEvent | UnhealthyEvent | FollowerEvent | ToldEvent;
