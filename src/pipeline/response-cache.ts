import { createHash } from 'node:crypto';
import type { Directives } from '../canonical/directives.ts';
import type { EventSource } from '../canonical/events.ts';
import type { Catalog, Endpoint } from '../catalog/model.ts';
import type { Clock } from '../lib/clock.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { Committed } from './attempts.ts';
import type { CallerRules } from './caller-rules.ts';
import { AnswerKeeper, readKeptAnswer, writeKeptAnswer, type KeptAnswer } from './kept-answer.ts';

/** Where answers are kept, of this process or of all. */
interface Texts {
  get(name: string): Promise<string | undefined>;
  set(name: string, text: string, lifeMs: number): void;
  delete(name: string): void;
}

export interface ResponseCacheParts {
  readonly texts: Texts;
  readonly catalog: Catalog;
  readonly clock: Clock;
}

/** What the cache has for one request that asked for it. */
export interface CacheLookUp {
  /** Tells the caller how it went. @source generation.md 9.3 */
  readonly headers: Readonly<Record<string, string>>;
  readonly hit: CacheHit | undefined;
  /** Sees the answer that is made because there was none. */
  readonly keeper: AnswerKeeper;
  /** After the answer's end: keeps it, if it is one to be given again. */
  keep(record: GenerationRecord): void;
}

/** An answer that is given again. */
export interface CacheHit {
  readonly sourceId: string;
  readonly endpoint: Endpoint;
  /** Reads as if it came now. */
  readonly committed: Committed;
}

/**
 * Looks for the answer that the very same body of the same key got before. Two that miss side by side both generate.
 * @returns `undefined`, at once, where caching was not asked for, or the account must have nothing kept
 */
export function lookUpAnswer(
  parts: ResponseCacheParts,
  record: AskingRecord,
  { policy }: Pick<CallerRules, 'policy'>,
): Promise<CacheLookUp> | undefined {
  const wish = record.request.directives.responseCache;
  if (wish === undefined || Object.values(policy.zeroRetention).some(Boolean)) return undefined;
  return lookUp(parts, record, wish, policy);
}

type AskingRecord = Pick<GenerationRecord, 'request' | 'report' | 'asker'>;

async function lookUp(
  parts: ResponseCacheParts,
  { request, report, asker }: AskingRecord,
  wish: NonNullable<Directives['responseCache']>,
  policy: CallerRules['policy'],
): Promise<CacheLookUp> {
  const { texts, clock } = parts;
  const { ttlMs } = wish;
  const asked = [request.format, request.delivery, report.requested, wish.bodyDigest];
  const name = nameOf([asker.keyHash, ...asked, rulesIn(policy)]);
  if (wish.clear) texts.delete(name);
  const text = wish.clear ? undefined : await texts.get(name);
  const hit = text === undefined ? undefined : openHit(parts, readKeptAnswer(text));
  const keeper = new AnswerKeeper();
  return {
    headers: hit === undefined ? { ...status('MISS'), ...remaining(ttlMs) } : headersOf(hit.kept, clock.nowMs()),
    hit,
    keeper,
    keep(record) {
      const events = isComplete(record) ? keeper.events() : undefined;
      const { endpoint } = record;
      const format = events?.find((event) => event.type === 'start')?.format;
      if (events === undefined || endpoint === undefined || format === undefined) return;
      const { model, provider } = endpoint;
      const storedAtMs = clock.nowMs();
      texts.set(
        name,
        writeKeptAnswer({ generationId: record.id, model, provider, format, storedAtMs, ttlMs, events }),
        ttlMs,
      );
    },
  };
}

/** What else decides what the answer is: who changes the rules of a key gets no answers from before. */
function rulesIn({ limits: _limits, ...rules }: CallerRules['policy']): string {
  return JSON.stringify(rules);
}

/** Whoever shares the store must not learn keys or words from a name. */
function nameOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

function isComplete({ error, end, cancelled }: GenerationRecord): boolean {
  return error === undefined && !cancelled && end !== undefined && end.finish !== 'error';
}

/** Who answered may be gone from the catalog meanwhile: then so is the answer. */
function openHit(
  { catalog, clock }: ResponseCacheParts,
  kept: KeptAnswer | undefined,
): (CacheHit & { readonly kept: KeptAnswer }) | undefined {
  const endpoint = kept && catalog.find(kept.model)?.endpoints.find(({ provider }) => provider === kept.provider);
  if (kept === undefined || endpoint === undefined) return undefined;
  const nowMs = clock.monotonicMs();
  const { format } = kept;
  return {
    kept,
    sourceId: kept.generationId,
    endpoint,
    committed: {
      candidate: { endpoint, format },
      source: sourceOf(kept),
      startedMs: nowMs,
      firstTokenMs: nowMs,
      echoes: [],
    },
  };
}

function sourceOf({ events }: KeptAnswer): EventSource {
  let isRead = false;
  return {
    read() {
      const batch = isRead ? undefined : events;
      isRead = true;
      return Promise.resolve(batch);
    },
    cancel() {
      isRead = true;
    },
  };
}

function headersOf({ generationId, storedAtMs, ttlMs }: KeptAnswer, nowMs: number): CacheLookUp['headers'] {
  const ageMs = Math.max(0, nowMs - storedAtMs);
  return {
    ...status('HIT'),
    'x-service-cache-age': String(Math.floor(ageMs / 1_000)),
    ...remaining(Math.max(0, ttlMs - ageMs)),
    'x-service-cache-source-id': generationId,
  };
}

function status(word: 'HIT' | 'MISS'): Readonly<Record<string, string>> {
  return { 'x-service-cache-status': word };
}

function remaining(ttlMs: number): Readonly<Record<string, string>> {
  return { 'x-service-cache-ttl': String(Math.ceil(ttlMs / 1_000)) };
}
