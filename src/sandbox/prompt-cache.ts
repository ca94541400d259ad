import { createHash } from 'node:crypto';
import { createLruCache } from '../lib/cache/lru-cache.ts';
import type { Segment } from './prompt.ts';

/** What a prompt reads from the cache and writes to it, in tokens. The rest of the prompt is neither. */
export interface CacheUse {
  readonly readTokens: number;
  readonly writtenTokens: number;
  /** The part of `writtenTokens` that lives an hour. */
  readonly written1hTokens: number;
}

export interface PromptCache {
  /** @param scope whose cache it is: vendors keep one by account */
  use(scope: string, segments: readonly Segment[]): CacheUse;
}

const PREFIXES_MAX = 10_000;
const NOTHING: CacheUse = { readTokens: 0, writtenTokens: 0, written1hTokens: 0 };

/**
 * Remembers the hash of every prompt prefix that ended in a breakpoint. The longest known one is read, everything from
 * there to the last breakpoint is written. Unlike a vendor's it has no minimum size and forgets only the prefixes that
 * were used longest ago, so that a test sees write, read, read whatever the time between.
 */
export function createPromptCache(): PromptCache {
  const prefixes = createLruCache<string, true>(PREFIXES_MAX);

  return {
    use(scope, segments) {
      if (!segments.some(({ cache }) => cache !== undefined)) return NOTHING;
      const hash = createHash('sha256').update(scope);
      let tokens = 0;
      let markedTokens = 0;
      let read = 0;
      let written1h = 0;
      for (const segment of segments) {
        hash.update(`\0${segment.place}\0`).update(segment.text);
        tokens += segment.tokens;
        if (segment.cache === undefined) continue;
        const prefix = hash.copy().digest('base64');
        if (prefixes.has(prefix)) {
          read = tokens;
          written1h = 0;
        } else if (segment.cache === '1h') {
          written1h += tokens - markedTokens;
        }
        markedTokens = tokens;
        prefixes.set(prefix, true);
      }
      return { readTokens: read, writtenTokens: markedTokens - read, written1hTokens: written1h };
    },
  };
}
