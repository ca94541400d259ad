import { createHash } from 'node:crypto';
import type { Directives } from '../../canonical/directives.ts';
import type { EventSource } from '../../canonical/events.ts';
import type { Catalog, Endpoint } from '../../catalog/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import type { ModelRequest } from '../../canonical/operation.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import {
  ResponseCacheWriter,
  parseCachedResponse,
  serializeCachedResponse,
  type CachedResponse,
} from './cached-response.ts';
import type { CallerRules, RequestFacts, UpstreamResponse } from '../request.ts';

/** Where answers are kept, of this process or of all. */
interface Texts {
  get(name: string): Promise<string | undefined>;
  set(name: string, text: string, lifeMs: number): void;
  delete(name: string): void;
}

export interface ResponseCacheDeps {
  readonly texts: Texts;
  readonly catalog: Catalog;
  readonly clock: Clock;
}

/** What the cache has for one request. */
export interface CacheLookUp {
  /** Tells the caller how it went. @spec cache-7 */
  readonly headers: Readonly<Record<string, string>>;
  readonly hit: CacheHit | undefined;
  /** Sees the answer that is made because there was none. */
  readonly cacheWriter: ResponseCacheWriter;
  /** After the answer's end: keeps it, if it is one to be given again. */
  keep(facts: RequestFacts): void;
}

/** An answer that is given again. */
export interface CacheHit {
  readonly sourceId: string;
  readonly endpoint: Endpoint;
  /** Reads as if it came now. */
  readonly response: UpstreamResponse;
}

/**
 * Looks for the answer that the very same body of the same key got before. Two that miss side by side both generate.
 * @returns `undefined`, at once, where the request does not ask for caching, or the account's rules forbid storage
 */
export function lookUpCachedResponse(deps: ResponseCacheDeps, input: CacheInput): Promise<CacheLookUp> | undefined {
  const setting = input.request.directives.responseCache;
  if (setting === undefined || Object.values(input.policy.zeroRetention).some(Boolean)) return undefined;
  return lookUp(deps, input, setting);
}

interface CacheInput {
  /** As filters let it through. */
  readonly request: GenerationRequest;
  readonly report: RouteReport;
  readonly principal: RequestLog['principal'];
  readonly policy: CallerRules['policy'];
}

async function lookUp(
  deps: ResponseCacheDeps,
  { request, report, principal, policy }: CacheInput,
  setting: NonNullable<Directives['responseCache']>,
): Promise<CacheLookUp> {
  const { texts, clock } = deps;
  const { ttlMs } = setting;
  const requested = [request.format, request.delivery, report.requested, setting.bodyDigest];
  const name = cacheName([principal.keyHash, ...requested], policy);
  if (setting.clear) texts.delete(name);
  const text = setting.clear ? undefined : await texts.get(name);
  const hit = text === undefined ? undefined : openHit(deps, parseCachedResponse(text));
  const cacheWriter = new ResponseCacheWriter();
  return {
    headers: hit === undefined ? headersOfMiss(ttlMs) : headersOfHit(hit.kept, clock.nowMs()),
    hit,
    cacheWriter,
    keep(facts) {
      const events = isComplete(facts) ? cacheWriter.events() : undefined;
      const { endpoint } = facts.meter;
      const format = events?.find((event) => event.type === 'start')?.format;
      if (events === undefined || endpoint === undefined || format === undefined) return;
      const { model, provider } = endpoint;
      const storedAtMs = clock.nowMs();
      texts.set(
        name,
        serializeCachedResponse({ generationId: facts.log.id, model, provider, format, storedAtMs, ttlMs, events }),
        ttlMs,
      );
    },
  };
}

/** The rules that decide what a response is: after a change of them no earlier response is replayed. */
function rulesIn({ limits: _limits, ...rules }: CallerRules['policy']): string {
  return JSON.stringify(rules);
}

/** Names in a shared store must not show keys or words. */
export function cacheName(parts: readonly string[], policy: CallerRules['policy']): string {
  return createHash('sha256')
    .update(JSON.stringify([...parts, rulesIn(policy)]))
    .digest('base64url');
}

export function isComplete({
  log: { error, budgetEnd },
  meter: { end, cancelled },
}: Pick<RequestFacts<ModelRequest>, 'log' | 'meter'>): boolean {
  if (error !== undefined || cancelled || budgetEnd !== undefined || end === undefined) return false;
  return end.finish !== 'error' && end.finish !== 'unknown';
}

/** The endpoint may be gone from the catalog meanwhile: then it is a miss. */
function openHit(
  { catalog, clock }: ResponseCacheDeps,
  kept: CachedResponse | undefined,
): (CacheHit & { readonly kept: CachedResponse }) | undefined {
  const endpoint = kept && catalog.find(kept.model)?.endpoints.find(({ provider }) => provider === kept.provider);
  if (kept === undefined || endpoint === undefined) return undefined;
  const nowMs = clock.monotonicMs();
  const { format } = kept;
  return {
    kept,
    sourceId: kept.generationId,
    endpoint,
    response: {
      candidate: { endpoint, format },
      source: sourceOf(kept),
      startedMs: nowMs,
      firstTokenMs: nowMs,
      echoes: [],
    },
  };
}

function sourceOf({ events }: CachedResponse): EventSource {
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

export function headersOfMiss(ttlMs: number): CacheLookUp['headers'] {
  return { ...status('MISS'), ...remaining(ttlMs) };
}

export function headersOfHit(
  { generationId, storedAtMs, ttlMs }: Pick<CachedResponse, 'generationId' | 'storedAtMs' | 'ttlMs'>,
  nowMs: number,
): CacheLookUp['headers'] {
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
