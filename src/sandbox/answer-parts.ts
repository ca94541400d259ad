import { createHash } from 'node:crypto';
import type { CacheUse } from './prompt-cache.ts';
import type { Prompt } from './prompt.ts';
import type { Script } from './script.ts';

/** What both formats put on an answer. */
export interface Identity {
  /** Made from the request's bytes: the same request gets the same ids. */
  readonly digest: string;
  readonly requestId: string;
  /** Unix seconds. */
  readonly createdS: number;
  readonly model: string;
}

/** Tokens of one answer, by the rule of `splitTokens`. */
export interface TokenCounts {
  /** Everything that was sent, cached or not. */
  readonly prompt: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly completion: number;
  readonly reasoning: number;
}

/**
 * One piece of a stream. `lifecycle` frames go out at once, a `token` frame waits for its time, and before an `end`
 * frame a fault that has not struck yet strikes.
 */
export interface Frame {
  readonly kind: 'lifecycle' | 'token' | 'end';
  readonly text: string;
}

/** Arguments of a call are streamed in pieces of so many characters, so that a client has to join them. */
export const ARGUMENT_CHARS = 8;

const DIGEST_CHARS = 24;

export function createIdentity(body: Uint8Array, model: string, nowMs: number): Identity {
  const digest = createHash('sha256').update(body).digest('hex').slice(0, DIGEST_CHARS);
  return { digest, requestId: `req_${digest}`, createdS: Math.floor(nowMs / 1_000), model };
}

/** The id of the `index`-th call of an answer. */
export function callIdOf(prefix: 'call_' | 'toolu_', { digest }: Identity, index: number): string {
  return `${prefix}${digest.slice(0, DIGEST_CHARS - 2)}${String(index).padStart(2, '0')}`;
}

export function countAnswer(prompt: Prompt, script: Script, cache: CacheUse): TokenCounts {
  return {
    prompt: prompt.segments.reduce((sum, segment) => sum + segment.tokens, 0),
    cacheRead: cache.readTokens,
    cacheWrite: cache.writtenTokens,
    cacheWrite1h: cache.written1hTokens,
    completion: script.completionTokens,
    reasoning: script.reasoningTokens,
  };
}
