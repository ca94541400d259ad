import { setTimeout as wait } from 'node:timers/promises';
import type { EventSource } from '../canonical/events.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Download } from '../lib/download.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { Health } from '../routing/health.ts';
import type { Candidate, RoutePlan } from '../routing/plan.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import { makeAttempt, type AttemptParts } from './attempt.ts';
import { createMediaInliner } from './inline-media.ts';
import { isUnreadableReasoning, withoutEncryptedReasoning } from './origin-memory.ts';
import { failedRoute, nothingReady } from './route-errors.ts';

/** An answer that has begun to come: from here on nobody else may try. */
export interface Committed {
  readonly candidate: Candidate;
  readonly source: EventSource;
  /** Bodies that went upstream, one an attempt, when the caller asked to see them. */
  readonly echoes: readonly { readonly provider: string; readonly body: JsonObject }[];
}

export interface AttemptsParts extends AttemptParts {
  readonly health: Health;
  readonly download: Download;
  /** Monotonic ms. */
  readonly monotonicMs: () => number;
}

/** Rest after a rate limit or an overload whose upstream named no time. @source generation.md 8.4 */
const COOLDOWN_MS = 5_000;
/** When everything rests, waiting this long for the first to wake beats refusing. */
const WAIT_FOR_READY_MS_MAX = 2_000;
/** Bound on attempts for one request, whatever the catalog offers. */
const ATTEMPTS_MAX = 32;

export function endpointName(endpoint: Endpoint): string {
  return `${endpoint.provider} ${endpoint.upstreamModel}`;
}

/**
 * Tries the candidates in order until one has begun to answer.
 * @throws GatewayError what the last failure means for the caller, with all failures in its metadata
 */
export async function makeAttempts(
  parts: AttemptsParts,
  plan: RoutePlan,
  request: GenerationRequest,
  record: GenerationRecord,
  signal: AbortSignal,
): Promise<Committed> {
  const candidates = plan.candidates.length > 0 ? plan.candidates : await waitForReady(parts, plan, signal);
  const { endUserId, asker } = record;
  let asked = { request, endUserId, accountId: asker.accountId, media: createMediaInliner(parts.download) };
  const failures: { readonly candidate: Candidate; readonly failure: UpstreamFailure }[] = [];
  const echoes: { readonly provider: string; readonly body: JsonObject }[] = [];
  let remaining = candidates.slice(0, ATTEMPTS_MAX);
  for (let candidate = remaining[0]; candidate !== undefined; candidate = remaining[0]) {
    const { endpoint } = candidate;
    const attempt = record.openAttempt(candidate);
    const outcome = await makeAttempt(
      parts,
      candidate,
      asked,
      {
        onEncoded(body, warnings) {
          attempt.warn(warnings);
          if (request.directives.echoUpstreamBody) echoes.push({ provider: endpoint.providerName, body });
        },
      },
      signal,
    );
    if (outcome.committed) {
      attempt.commit();
      parts.health.recover(endpointName(endpoint));
      return { candidate, source: outcome.source, echoes };
    }
    const { failure, partial } = outcome;
    const readable = isUnreadableReasoning(failure) ? withoutEncryptedReasoning(asked.request) : undefined;
    if (readable !== undefined && readable.warnings.length > 0) {
      // Said once, to whoever comes first: without it nobody has a reason to refuse the request.
      attempt.warn(readable.warnings);
      attempt.fail(failure);
      failures.push({ candidate, failure });
      asked = { ...asked, request: readable.request };
      continue;
    }
    coolAfter(parts.health, endpoint, failure);
    remaining = remaining.slice(1).filter((other) => mayTry(other.endpoint, failure, endpoint));
    if (partial !== undefined && remaining.length === 0) {
      attempt.commit();
      return { candidate, source: partial, echoes };
    }
    attempt.fail(failure);
    failures.push({ candidate, failure });
  }
  throw failedRoute(failures, request.directives.models);
}

function mayTry(other: Endpoint, failure: UpstreamFailure, failed: Endpoint): boolean {
  if (failure.mayTry === 'next-model') return other.model !== failed.model;
  return failure.mayTry === 'next-endpoint';
}

function coolAfter(health: Health, endpoint: Endpoint, failure: UpstreamFailure): void {
  const limited = failure.errorType === 'rate_limit_exceeded' || failure.errorType === 'provider_overloaded';
  if (failure.retryAfterMs !== undefined && (limited || failure.upstreamStatus === 503))
    health.cool(endpointName(endpoint), failure.retryAfterMs, true);
  else if (limited) health.cool(endpointName(endpoint), COOLDOWN_MS, false);
}

/** Those that are awake once the first is. @throws GatewayError 503 when that is too far off */
async function waitForReady(parts: AttemptsParts, plan: RoutePlan, signal: AbortSignal): Promise<readonly Candidate[]> {
  const first = plan.cooling[0];
  if (first === undefined) throw nothingReady(plan, undefined);
  const waitMs = Math.max(0, first.cooldown.untilMs - parts.monotonicMs());
  if (waitMs > WAIT_FOR_READY_MS_MAX) throw nothingReady(plan, waitMs);
  await wait(waitMs, undefined, { signal }).catch(() => undefined);
  // The others named times of their own (pains.md 8). A timer may run out a moment early: the first is ready by its plan.
  const untilMs = Math.max(first.cooldown.untilMs, parts.monotonicMs());
  return plan.cooling.filter(({ cooldown }) => cooldown.untilMs <= untilMs).map(({ candidate }) => candidate);
}
