import { setTimeout as wait } from 'node:timers/promises';
import type { EventSource } from '../canonical/events.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Download } from '../lib/download.ts';
import type { JsonObject } from '../lib/json.ts';
import { endpointName } from '../routing/endpoint-name.ts';
import type { Health, Leave } from '../routing/health.ts';
import type { Candidate, RoutePlan } from '../routing/plan.ts';
import { createWalk } from '../routing/walk.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import { makeAttempt, type AttemptOutcome, type AttemptParts } from './attempt.ts';
import { createMediaInliner } from './inline-media.ts';
import { isUnreadableReasoning, withoutEncryptedReasoning } from './origin-memory.ts';
import { failedRoute, nothingReady } from './route-errors.ts';

/** An answer that has begun to come: from here on nobody else may try. */
export interface Committed {
  readonly candidate: Candidate;
  readonly source: EventSource;
  /** When the attempt began, monotonic ms. */
  readonly startedMs: number;
  /** Bodies that went upstream, one an attempt, when the caller asked to see them. */
  readonly echoes: readonly { readonly provider: string; readonly body: JsonObject }[];
}

export interface AttemptsParts extends AttemptParts {
  readonly health: Health;
  readonly download: Download;
  /** Monotonic ms. */
  readonly monotonicMs: () => number;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

/**
 * Tries the candidates in order until one has begun to answer.
 * @param onFailed told of every candidate that failed
 * @throws GatewayError what the last failure means for the caller, with all failures in its metadata
 */
export async function makeAttempts(
  parts: AttemptsParts,
  plan: RoutePlan,
  request: GenerationRequest,
  record: GenerationRecord,
  signal: AbortSignal,
  onFailed: (candidate: Candidate) => void = () => undefined,
): Promise<Committed> {
  const { endUserId, asker } = record;
  let asked = { request, endUserId, accountId: asker.accountId, media: createMediaInliner(parts.download) };
  const failures: { readonly candidate: Candidate; readonly failure: UpstreamFailure }[] = [];
  const echoes: { readonly provider: string; readonly body: JsonObject }[] = [];
  const walk = createWalk(parts, plan);
  for (let step = walk.next(); ; step = walk.next()) {
    if (step.type === 'wait') {
      await wait(step.ms, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) continue;
    }
    if (step.type !== 'try') {
      if (failures.length === 0 && step.type === 'stop') throw nothingReady(step.resting, step.readyInMs);
      throw failedRoute(failures, request.directives.models);
    }
    const { candidate } = step;
    const { endpoint } = candidate;
    const startedMs = parts.monotonicMs();
    const attempt = record.openAttempt(candidate);
    const observer = {
      onEncoded(body: JsonObject, warnings: Parameters<typeof attempt.warn>[0]) {
        attempt.warn(warnings);
        if (request.directives.echoUpstreamBody) echoes.push({ provider: endpoint.providerName, body });
      },
    };
    const outcome = await watched(parts.health, step, makeAttempt(parts, candidate, asked, observer, signal));
    if (outcome.committed) {
      attempt.commit();
      return { candidate, source: outcome.source, startedMs, echoes };
    }
    const { failure, partial } = outcome;
    const readable = isUnreadableReasoning(failure) ? withoutEncryptedReasoning(asked.request) : undefined;
    const mayRead = readable !== undefined && readable.warnings.length > 0;
    if (mayRead) {
      // Said once, to whoever comes first: without it nobody has a reason to refuse the request.
      attempt.warn(readable.warnings);
      asked = { ...asked, request: readable.request };
    }
    walk.failed(failure, mayRead ? 'again' : partial === undefined ? undefined : 'no more');
    onFailed(candidate);
    if (partial !== undefined && walk.isOver()) {
      attempt.commit();
      return { candidate, source: partial, startedMs, echoes };
    }
    partial?.cancel();
    attempt.fail(failure);
    failures.push({ candidate, failure });
  }
}

/** Tells health how it went, whatever happens: a probe that nobody ends would keep its endpoint closed. */
async function watched(
  health: Health,
  { candidate, leave }: { readonly candidate: Candidate; readonly leave: Leave },
  attempt: Promise<AttemptOutcome>,
): Promise<AttemptOutcome> {
  const name = endpointName(candidate.endpoint);
  let outcome: AttemptOutcome;
  try {
    outcome = await attempt;
  } catch (error) {
    health.abandoned(name, leave);
    throw error;
  }
  if (outcome.committed) health.succeeded(name, leave);
  else if (outcome.failure.kind === 'aborted' || outcome.failure.clock === 'total') health.abandoned(name, leave);
  else health.failed(name, outcome.failure, leave);
  return outcome;
}
