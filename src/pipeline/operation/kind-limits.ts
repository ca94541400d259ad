import { unreachable } from '../../lib/assert.ts';
import { longestMs } from '../../canonical/audio.ts';
import type { Operation } from '../../canonical/operation.ts';
import type { Provider } from '../../providers/contract.ts';

/** Sound may take twice as long as it lasts: a machine without a graphics card is no faster. */
const SOUND_FACTOR = 2;
const SOUND_MS_MAX = 600_000;

/** How long a call may take as a whole, ms. @spec fallback-32 */
export function wholeLimitMs({ settings: { timeouts } }: Pick<Provider, 'settings'>, operation: Operation): number {
  switch (operation.kind) {
    case 'embeddings':
      return timeouts.embeddingsMs ?? timeouts.wholeMs;
    case 'rerank':
      return timeouts.rerankMs ?? timeouts.wholeMs;
    case 'image':
      return timeouts.imageMs ?? timeouts.wholeMs;
    case 'stt': {
      const least = timeouts.transcriptionMs ?? timeouts.wholeMs;
      return Math.max(least, Math.min(SOUND_FACTOR * longestMs(operation.audio), SOUND_MS_MAX));
    }
    // Speech and clips have limits of their steps; decisions end with those that ask for them.
    case 'tts':
    case 'video':
    case 'decisions':
      return timeouts.wholeMs;
    default:
      return unreachable(operation);
  }
}

/** Until the head of speech, until it can be heard, both from the start of the call, and between two pieces of it, ms. */
export function speechLimitsMs({ settings: { timeouts } }: Pick<Provider, 'settings'>): {
  readonly headersMs: number;
  readonly firstTokenMs: number;
  readonly idleMs: number;
} {
  const { headersMs, firstTokenMs, idleMs, speechFirstByteMs, speechIdleMs } = timeouts;
  return {
    headersMs: speechFirstByteMs ?? headersMs,
    firstTokenMs: speechFirstByteMs ?? headersMs + firstTokenMs,
    idleMs: speechIdleMs ?? idleMs,
  };
}
