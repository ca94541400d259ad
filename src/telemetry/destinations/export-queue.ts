import { setTimeout as sleep } from 'node:timers/promises';
import type { ExportedGeneration, OutboundPost } from './contract.ts';
import type { PostOutcome } from './post.ts';

/** The outcome of a generation for a destination: `dropped`, there was no room; `failed`, it was not accepted. */
export type ExportOutcome = 'sent' | 'dropped' | 'failed';

/** Sends generations to one destination, in batches, one call at a time. Adding one never waits. */
export interface ExportQueue {
  offer(generation: ExportedGeneration): void;
  /** Sends what waits once more without retries, as far as it can be sent in the time; what is left counts as failed. */
  close(limitMs: number): Promise<void>;
}

export interface ExportQueueDeps {
  readonly serialize: (batch: readonly ExportedGeneration[]) => OutboundPost;
  readonly post: (call: OutboundPost) => Promise<PostOutcome>;
  readonly onOutcome: (outcome: ExportOutcome, count: number) => void;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  /** Default: a second, then five. */
  readonly retryDelaysMs?: readonly number[];
  readonly gatherMs?: number;
}

const WAITING_MAX = 1_000;
/** UTF-16 units of content and traces that wait, of all generations together. */
const WAITING_CHARS_MAX = 16 * 1_024 * 1_024;
const BATCH_MAX = 100;
const BATCH_CHARS_MAX = 2 * 1_024 * 1_024;
/** How long the first of a batch waits for others. */
const GATHER_MS = 1_000;
const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000];
/** Part of a delay that chance adds: processes that failed together do not try again together. */
const JITTER_SHARE = 0.3;
const TOO_MANY_REQUESTS = 429;
const REQUEST_TIMEOUT = 408;

interface Waiting {
  readonly generation: ExportedGeneration;
  readonly chars: number;
}

export function createExportQueue(deps: ExportQueueDeps): ExportQueue {
  const { onOutcome, retryDelaysMs = RETRY_DELAYS_MS, gatherMs = GATHER_MS } = deps;
  const hurry = new AbortController();
  let waiting: Waiting[] = [];
  let chars = 0;
  let running: Promise<void> | undefined;

  function takeBatch(): readonly ExportedGeneration[] {
    const batch: ExportedGeneration[] = [];
    let batchChars = 0;
    for (const one of waiting) {
      if (batch.length === BATCH_MAX || (batch.length > 0 && batchChars + one.chars > BATCH_CHARS_MAX)) break;
      batch.push(one.generation);
      batchChars += one.chars;
    }
    waiting = waiting.slice(batch.length);
    chars -= batchChars;
    return batch;
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      if (waiting.length < BATCH_MAX) await pause(gatherMs, hurry.signal);
      await send(takeBatch());
    }
    running = undefined;
  }

  async function send(batch: readonly ExportedGeneration[]): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      // Serialized for each try, since the signature contains the time.
      const outcome = await deps.post(deps.serialize(batch));
      if (isTaken(outcome)) return onOutcome('sent', batch.length);
      const delayMs = hurry.signal.aborted || !mayTryAgain(outcome) ? undefined : retryDelaysMs[attempt];
      if (delayMs === undefined) return onOutcome('failed', batch.length);
      await pause(delayMs * (1 + JITTER_SHARE * deps.random()), hurry.signal);
    }
  }

  return {
    offer(generation) {
      const size = charsOf(generation);
      if (hurry.signal.aborted || waiting.length >= WAITING_MAX || chars + size > WAITING_CHARS_MAX)
        return onOutcome('dropped', 1);
      waiting.push({ generation, chars: size });
      chars += size;
      running ??= drain();
    },
    async close(limitMs) {
      hurry.abort();
      await Promise.race([running, sleep(limitMs, undefined, { ref: false })]);
      if (waiting.length > 0) onOutcome('failed', waiting.length);
      waiting = [];
    },
  };
}

function isTaken({ status }: PostOutcome): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** A rejected record would be rejected the next time, too. */
function mayTryAgain({ status }: PostOutcome): boolean {
  return status === undefined || status >= 500 || status === TOO_MANY_REQUESTS || status === REQUEST_TIMEOUT;
}

/** Cut short by the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

/** Texts of the conversation, and what the caller sends along; everything else of a generation is small. */
function charsOf({ content, trace }: ExportedGeneration): number {
  return JSON.stringify(trace).length + (content === undefined ? 0 : JSON.stringify(content).length);
}
