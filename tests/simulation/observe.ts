import type { UpstreamFailure } from '../../src/canonical/failure/failure.ts';
import type { Model } from '../../src/catalog/model.ts';
import type { Release } from '../../src/routing/health.ts';
import type { Candidate, RoutePlan } from '../../src/routing/route-plan.ts';
import type { World } from './world.ts';

/** What a run came to. Every violation is a sentence with its virtual time. */
export interface Findings {
  readonly requests: number;
  readonly served: number;
  readonly violations: readonly string[];
  /** In quiet times: how often each endpoint came first, and how often 1 / price² predicts. */
  readonly shares: readonly { readonly name: string; readonly seen: number; readonly due: number }[];
  readonly quietRequests: number;
  readonly attemptsMax: number;
  readonly probes: number;
  /** Sessions that came back to an endpoint that had been up all the while. */
  readonly stickyHits: number;
  readonly stickyMisses: number;
}

export interface ObservedRequest {
  /** @returns what to call when the attempt is over */
  tried(candidate: Candidate, release: Release, nowMs: number): (failure: UpstreamFailure | undefined) => void;
  served(candidate: Candidate, nowMs: number): void;
  lost(nowMs: number): void;
}

const VIOLATIONS_MAX = 20;
/** A probe within 30 seconds, and the full share 30 seconds after. */
const PROBE_LIMIT_MS = 30_000;
const SETTLED_MS = 60_000;
/** Between two arrivals at 50 a second, and the time of an answer. */
const GRACE_MS = 2_500;
const ATTEMPTS_MAX = 32;
/** Under way until the first failure of an outage comes back, which a silent upstream keeps for 1.5 s. */
const ATTEMPTS_UNAWARE = 100;
const PROBE_GAP_MS = 4_000;

interface Watched {
  readonly name: string;
  readonly recoveries: number[];
  probing: number;
  /** Attempts in the outage of the moment, while others worked. */
  hammered: number;
  outageFromMs: number;
  notBeforeMs: number;
}

export function createObserver(world: World) {
  const violations: string[] = [];
  const violate = (text: string, nowMs: number): void => {
    if (violations.length < VIOLATIONS_MAX) violations.push(`${(nowMs / 1_000).toFixed(3)} s: ${text}`);
  };
  const watched = new Map<string, Watched>(
    world.endpoints.map(({ name, faults }) => [
      name,
      {
        name,
        recoveries: faults.map(({ untilMs }) => untilMs),
        probing: 0,
        hammered: 0,
        outageFromMs: 0,
        notBeforeMs: 0,
      },
    ]),
  );
  const seen = new Map<string, number>();
  const due = new Map<string, number>();
  const lastOf = new Map<string, { name: string; ms: number }>();
  let [served, quiet, attemptsMax, probes, hits, misses] = [0, 0, 0, 0, 0, 0];

  function noteShares(plan: RoutePlan, model: Model, nowMs: number): void {
    const quietSince = world.quietSinceMs(nowMs);
    const first = plan.candidates[0];
    if (quietSince === undefined || first === undefined || (quietSince > 0 && nowMs < quietSince + SETTLED_MS)) return;
    quiet++;
    seen.set(first.endpoint.provider, (seen.get(first.endpoint.provider) ?? 0) + 1);
    const weights = model.endpoints.map(({ price }) => 1 / ((price?.prompt ?? 0) + (price?.completion ?? 0)) ** 2);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    for (const [at, { provider }] of model.endpoints.entries())
      due.set(provider, (due.get(provider) ?? 0) + (weights[at] ?? 0) / total);
  }

  function noteHammering(endpoint: Watched, nowMs: number): void {
    const outage = world.outageOf(endpoint.name, nowMs);
    if (outage === undefined || !world.endpoints.some(({ name }) => world.isUp(name, nowMs - SETTLED_MS, nowMs)))
      return;
    if (outage.fromMs !== endpoint.outageFromMs) endpoint.hammered = 0;
    endpoint.outageFromMs = outage.fromMs;
    const allowed = ATTEMPTS_UNAWARE + (nowMs - outage.fromMs) / PROBE_GAP_MS;
    if (++endpoint.hammered > allowed) violate(`${endpoint.name} was hammered: ${endpoint.hammered} attempts`, nowMs);
  }

  function noteAttempt(endpoint: Watched, release: Release, nowMs: number): void {
    if (nowMs < endpoint.notBeforeMs) violate(`${endpoint.name} was called before its Retry-After was over`, nowMs);
    noteHammering(endpoint, nowMs);
    if (release === 'probe') {
      probes++;
      endpoint.probing++;
      if (endpoint.probing > 1) violate(`${endpoint.probing} probes of ${endpoint.name} at once`, nowMs);
    }
    // The first attempt after each recovery: whichever request made it, it showed that the endpoint works.
    for (
      let recovery = endpoint.recoveries[0];
      recovery !== undefined && recovery <= nowMs;
      recovery = endpoint.recoveries[0]
    ) {
      const sinceMs = Math.max(recovery, endpoint.notBeforeMs);
      if (nowMs > sinceMs + PROBE_LIMIT_MS + GRACE_MS)
        violate(
          `no request tried ${endpoint.name} for ${Math.round((nowMs - sinceMs) / 1_000)} s after its recovery`,
          nowMs,
        );
      endpoint.recoveries.shift();
    }
  }

  return {
    arrived(plan: RoutePlan, model: Model, arrivedMs: number, sessionId: string | undefined): ObservedRequest {
      if (sessionId === undefined) noteShares(plan, model, arrivedMs);
      let attempts = 0;
      return {
        tried(candidate, release, nowMs) {
          attempts++;
          attemptsMax = Math.max(attemptsMax, attempts);
          if (attempts > ATTEMPTS_MAX) violate(`${attempts} attempts for one request`, nowMs);
          const endpoint = watched.get(candidate.endpoint.provider);
          if (endpoint === undefined) throw new Error(`no endpoint ${candidate.endpoint.provider}`);
          noteAttempt(endpoint, release, nowMs);
          return (failure) => {
            if (release === 'probe') endpoint.probing--;
            // The answer names a time from when it comes; requests under way may still arrive.
            if (failure?.retryAfterMs !== undefined)
              endpoint.notBeforeMs = Math.max(endpoint.notBeforeMs, nowMs + failure.retryAfterMs);
          };
        },
        served({ endpoint: { provider } }, nowMs) {
          served++;
          if (sessionId === undefined) return;
          const last = lastOf.get(sessionId);
          const mayHold = last !== undefined && world.isUp(last.name, last.ms - SETTLED_MS, nowMs);
          if (mayHold && last.name === provider) hits++;
          else if (mayHold) misses++;
          lastOf.set(sessionId, { name: provider, ms: nowMs });
        },
        lost(nowMs) {
          const up = world.endpoints.filter(({ name }) => world.isUp(name, arrivedMs, nowMs));
          if (up.length > 0)
            violate(`a request was lost while ${up.map(({ name }) => name).join(', ')} would have answered`, nowMs);
        },
      };
    },
    findings(requests: number, endedMs: number): Findings {
      for (const { name, recoveries, notBeforeMs } of watched.values())
        for (const recovery of recoveries)
          if (endedMs > Math.max(recovery, notBeforeMs) + PROBE_LIMIT_MS + GRACE_MS)
            violate(`no request tried ${name} after its recovery at ${Math.round(recovery / 1_000)} s`, endedMs);
      const shares = [...due].map(([name, share]) => ({
        name,
        seen: (seen.get(name) ?? 0) / quiet,
        due: share / quiet,
      }));
      return {
        requests,
        served,
        violations,
        shares,
        quietRequests: quiet,
        attemptsMax,
        probes,
        stickyHits: hits,
        stickyMisses: misses,
      };
    },
  };
}
