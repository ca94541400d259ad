import type { ChannelRow } from '../../resources/notification-channels.ts';
import type { Poster, PostOutcome } from '../../telemetry/destinations/post.ts';
import { parseRetryAfterMs } from '../../lib/net/retry-after.ts';
import type { Message } from '../message.ts';

/** What is secret of a channel, as it is sealed. */
export interface ChannelConfig {
  /** Absent: mail. */
  readonly url?: string;
  /** Of a webhook: `whsec_...`. */
  readonly secret?: string;
  /** The one before; it signs, too, until then. */
  readonly previous?: { readonly secret: string; readonly untilMs: number };
}

/** What became of one attempt. */
export type SendResult =
  | { readonly isSent: true; readonly status: number | null }
  | {
      readonly isSent: false;
      readonly status: number | null;
      /** Safe to show. */
      readonly error: string;
      readonly afterMs?: number | undefined;
      /** `gone`: the address says that nothing is ever to be sent again. `refused`: a few tries are enough. */
      readonly kind: 'gone' | 'refused' | 'away';
    };

export interface SendContext {
  readonly channel: ChannelRow;
  readonly config: ChannelConfig;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /** Of a mail, which recipients have it from an earlier attempt. */
  readonly done: readonly string[];
  readonly onDone: (recipient: string) => Promise<void>;
}

/** Sends a message by one kind of channel. Never rejects for what the other side does. */
export type Send = (message: Message, context: SendContext) => Promise<SendResult>;

export type Call = Pick<Poster, 'post'>;

const GONE = 410;
/** Refusals that may pass: too slow, too early, too many. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

/** A redirect is no delivery, and is not followed. */
export function resultOf(outcome: PostOutcome, nowMs: number): SendResult {
  const { status } = outcome;
  if (status === undefined)
    return { isSent: false, status: null, error: outcome.reason, kind: outcome.isRefused ? 'refused' : 'away' };
  if (status >= 200 && status < 300) return { isSent: true, status };
  const error = `The address answered with ${status}.`;
  if (status === GONE) return { isSent: false, status, error, kind: 'gone' };
  const isRefusal = status >= 300 && status < 500 && !PASSING.has(status);
  return {
    isSent: false,
    status,
    error,
    kind: isRefusal ? 'refused' : 'away',
    afterMs: parseRetryAfterMs(outcome.headers, nowMs),
  };
}
