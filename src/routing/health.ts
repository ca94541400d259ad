import type { UpstreamFailure } from '../canonical/failure/failure.ts';
import type { Clock } from '../lib/clock.ts';
import { createLruCache, entriesOf } from '../lib/cache/lru-cache.ts';
import { clearCounts, count, createRollingCounts, roll, sumOfNewest, type RollingCounts } from './rolling.ts';

/** Why an endpoint is in cooldown, and until when. */
export interface Cooldown {
  /** Monotonic ms. */
  readonly untilMs: number;
  /** The upstream sent the time itself: it must not be called earlier. */
  readonly named: boolean;
}

/** The current state of an endpoint. */
export interface EndpointHealth {
  /** 0: normal; 1: degraded, tried after the normal ones; 2: failing, tried only when no other is left. */
  readonly rank: 0 | 1 | 2;
  /** The circuit is open: a request to it is its one probe. */
  readonly open: boolean;
  /** It is time to probe whether it has recovered. */
  readonly probeDue: boolean;
  readonly cooldown?: Cooldown;
}

/** The facts of a failure that count for an endpoint's health. */
export type FailureFacts = Pick<
  UpstreamFailure,
  'kind' | 'clock' | 'cutAfterMs' | 'errorType' | 'status' | 'upstreamStatus' | 'retryAfterMs'
> & {
  /** How long the attempt had lasted. Absent: unknown. */
  readonly lastedMs?: number;
};

/** What is known of an endpoint that was called. */
export interface EndpointReport extends Pick<EndpointHealth, 'rank' | 'open'> {
  readonly endpoint: string;
  /** So long it must not be called, or is not. Absent: it may be. */
  readonly cooldown?: { readonly forMs: number; readonly named: boolean };
  /** So long until one request tries whether it has recovered. Absent: it is healthy, or one does. */
  readonly probeInMs?: number;
  /** Failures in a row. */
  readonly streak: number;
  /** Absent: none since it was first called here. */
  readonly lastFailure?: Pick<FailureFacts, 'kind' | 'status' | 'upstreamStatus'> & { readonly agoMs: number };
}

/** The permission to call an endpoint: freely, as its one probe, later because another request probes it, or not yet. */
export type Release = 'free' | 'probe' | 'busy' | 'cooldown';

/** The health of endpoints, from their traffic so far. They are named by `endpointName`. */
export interface Health {
  look(endpoint: string): EndpointHealth;
  /** Requests permission to call the endpoint now. `free` and `probe` are followed by exactly one of the next three. */
  begin(endpoint: string): Release;
  succeeded(endpoint: string, release: Release): void;
  failed(endpoint: string, failure: FailureFacts, release: Release): void;
  /** The outcome is unknown: the caller disconnected. */
  abandoned(endpoint: string, release: Release): void;
  /** A response that had begun broke off. */
  brokeOff(endpoint: string, failure: FailureFacts): void;
  /** Names of those whose circuit is open now. */
  openCircuits(): readonly string[];
  /** All that were called, and are remembered. */
  list(): readonly EndpointReport[];
  /** Forgets what was seen of an endpoint, which stays listed, so that requests call it again. @returns whether anything was known */
  reset(endpoint: string): boolean;
}

/** Bound on remembered endpoints; the one unused for longest is forgotten, which only means that it may be tried. */
const ENDPOINTS_MAX = 10_000;
/** 5 minutes of 5 seconds. @spec fallback-20 */
const BUCKET_MS = 5_000;
const BUCKETS = 60;
/** 30 seconds. @spec fallback-19 */
const OUTAGE_BUCKETS = 6;
const OUTAGE_SHARE_OF_FEW = 1 / 2;
const OUTAGE_SHARE_OF_MANY = 1 / 5;
const MANY = 20;
/** @spec fallback-20 */
const UPTIME_REQUESTS_MIN = 100;
const UPTIME_NORMAL = 0.95;
const UPTIME_DEGRADED = 0.8;
/** Failures in a row that open the circuit. */
const STREAK_MAX = 3;
/** First probe after a demotion; doubled with each relapse, and never so long that a recovery stays unseen for 30 s. */
const PROBE_MS = 5_000;
const PROBE_MS_MAX = 25_000;
const RELAPSE_MS = 60_000;
/** Between two probes of an open circuit that is the only candidate. */
const LAST_RESORT_MS = 250;
/** A probe without an end blocks others no longer than the longest request. */
const LEASE_MS_MAX = 15 * 60_000;
/** The cooldown after a rate limit or an overload whose upstream named no time. @spec fallback-17 */
const COOLDOWN_MS = 5_000;

const HEALTHY: EndpointHealth = { rank: 0, open: false, probeDue: false };

interface State {
  restUntilMs: number;
  restNamed: boolean;
  /** It was in cooldown, or slower than its history, and has not responded since. */
  onProbation: boolean;
  readonly traffic: RollingCounts;
  streak: number;
  open: boolean;
  /** Failed probes and short recoveries since the last long healthy time. */
  relapses: number;
  recoveredMs: number;
  /** The time of its last response. */
  answeredMs: number;
  probeAtMs: number;
  probedMs: number;
  /** Start of the probe in flight; `undefined`: none. */
  probingSinceMs: number | undefined;
  lastFailure: FailureFacts | undefined;
  failedMs: number;
}

export interface HealthDeps {
  readonly clock: Clock;
  /** Called for every response and failure that counts. */
  readonly onCounted?: (endpoint: string, isOk: boolean) => void;
}

export function createHealth({ clock, onCounted }: HealthDeps): Health {
  const states = createLruCache<string, State>(ENDPOINTS_MAX);

  return {
    openCircuits: () => openIn(states),
    list: () => reportsOf(states, clock.monotonicMs()),
    reset(endpoint) {
      const isKnown = states.peek(endpoint) !== undefined;
      if (isKnown) states.set(endpoint, createState());
      return isKnown;
    },
    look(endpoint) {
      const state = states.peek(endpoint);
      return state === undefined ? HEALTHY : look(state, clock.monotonicMs());
    },
    begin(endpoint) {
      const state = states.peek(endpoint);
      return state === undefined ? 'free' : begin(state, clock.monotonicMs());
    },
    succeeded(endpoint, release) {
      const state = stateIn(states, endpoint);
      const nowMs = clock.monotonicMs();
      if (release === 'probe') recover(state, nowMs);
      if (!state.open) state.streak = 0;
      if (state.restUntilMs <= nowMs) state.onProbation = false;
      state.answeredMs = nowMs;
      count(state.traffic, true, nowMs);
      onCounted?.(endpoint, true);
    },
    failed(endpoint, failure, release) {
      const state = stateIn(states, endpoint);
      const nowMs = clock.monotonicMs();
      const before = look(state, nowMs).rank;
      note(state, failure, nowMs);
      if (release === 'probe') {
        state.probingSinceMs = undefined;
        state.probedMs = nowMs;
      }
      coolAfter(state, failure, nowMs);
      if (!countsAgainst(failure)) {
        // It responded, if only with a refusal: the next response shows more.
        if (release === 'probe' && state.restUntilMs <= nowMs) recover(state, nowMs);
        return;
      }
      onCounted?.(endpoint, false);
      // What was silent before the endpoint recovered, or last answered, says nothing of it now.
      const silentSinceMs = release === 'probe' ? nowMs : silentSince(failure, nowMs);
      if (silentSinceMs < state.recoveredMs) return;
      count(state.traffic, false, nowMs);
      // Slower than usual is no proof that it fails: others go first until it answers, and its circuit stays closed.
      if (failure.cutAfterMs !== undefined) state.onProbation = true;
      else if (silentSinceMs >= state.answeredMs) state.streak++;
      if (state.streak >= STREAK_MAX) state.open = true;
      demote(state, before === 0, release === 'probe', nowMs);
    },
    abandoned(endpoint, release) {
      const state = states.peek(endpoint);
      if (state !== undefined && release === 'probe') state.probingSinceMs = undefined;
    },
    brokeOff(endpoint, failure) {
      const state = stateIn(states, endpoint);
      const nowMs = clock.monotonicMs();
      note(state, failure, nowMs);
      coolAfter(state, failure, nowMs);
      if (!countsAgainst(failure)) return;
      const before = look(state, nowMs).rank;
      count(state.traffic, false, nowMs);
      onCounted?.(endpoint, false);
      demote(state, before === 0, false, nowMs);
    },
  };
}

function createState(): State {
  return {
    restUntilMs: -Infinity,
    restNamed: false,
    onProbation: false,
    traffic: createRollingCounts(BUCKET_MS, BUCKETS),
    streak: 0,
    open: false,
    relapses: 0,
    recoveredMs: -Infinity,
    answeredMs: -Infinity,
    probeAtMs: -Infinity,
    probedMs: -Infinity,
    probingSinceMs: undefined,
    lastFailure: undefined,
    failedMs: -Infinity,
  };
}

type States = ReturnType<typeof createLruCache<string, State>>;

function stateIn(states: States, endpoint: string): State {
  const known = states.get(endpoint);
  if (known !== undefined) return known;
  const state = createState();
  states.set(endpoint, state);
  return state;
}

function openIn(states: States): readonly string[] {
  return entriesOf(states)
    .filter(([, { open }]) => open)
    .map(([endpoint]) => endpoint);
}

function reportsOf(states: States, nowMs: number): readonly EndpointReport[] {
  return entriesOf(states).map(([endpoint, state]) => reportOf(endpoint, state, nowMs));
}

function note(state: State, failure: FailureFacts, nowMs: number): void {
  state.lastFailure = failure;
  state.failedMs = nowMs;
}

function reportOf(endpoint: string, state: State, nowMs: number): EndpointReport {
  const { rank, open, cooldown } = look(state, nowMs);
  const { lastFailure, failedMs, streak, probeAtMs } = state;
  const waitsForProbe = rank > 0 && !isProbing(state, nowMs) && Number.isFinite(probeAtMs);
  return {
    endpoint,
    rank,
    open,
    streak,
    ...(cooldown !== undefined && { cooldown: { forMs: cooldown.untilMs - nowMs, named: cooldown.named } }),
    ...(waitsForProbe && { probeInMs: Math.max(0, probeAtMs - nowMs) }),
    ...(lastFailure !== undefined && { lastFailure: failureOf(lastFailure, nowMs - failedMs) }),
  };
}

function failureOf(
  { kind, status, upstreamStatus }: FailureFacts,
  agoMs: number,
): NonNullable<EndpointReport['lastFailure']> {
  return { kind, status, agoMs, ...(upstreamStatus !== undefined && { upstreamStatus }) };
}

function look(state: State, nowMs: number): EndpointHealth {
  if (state.restUntilMs > nowMs) {
    const cooldown = { untilMs: state.restUntilMs, named: state.restNamed };
    return { rank: 2, open: state.open, probeDue: false, cooldown };
  }
  const byTraffic = rankOf(state, nowMs);
  const rank = state.onProbation && byTraffic === 0 ? 1 : byTraffic;
  if (rank === 0) return HEALTHY;
  const probeDue = !isProbing(state, nowMs) && nowMs >= Math.max(state.probeAtMs, state.restUntilMs);
  return { rank, open: state.open, probeDue };
}

function rankOf(state: State, nowMs: number): EndpointHealth['rank'] {
  if (state.open) return 2;
  const { traffic } = state;
  roll(traffic, nowMs);
  if (traffic.failedSum === 0) return 0;
  const { ok, failed } = sumOfNewest(traffic, OUTAGE_BUCKETS);
  const recent = ok + failed;
  const share = recent < MANY ? OUTAGE_SHARE_OF_FEW : OUTAGE_SHARE_OF_MANY;
  if (failed > 0 && failed >= recent * share) return 2;
  const all = traffic.okSum + traffic.failedSum;
  if (all < UPTIME_REQUESTS_MIN) return 0;
  const uptime = traffic.okSum / all;
  if (uptime >= UPTIME_NORMAL) return 0;
  return uptime >= UPTIME_DEGRADED ? 1 : 2;
}

function begin(state: State, nowMs: number): Release {
  const { rank, open, probeDue, cooldown } = look(state, nowMs);
  if (cooldown?.named === true) return 'cooldown';
  const mayProbe = !isProbing(state, nowMs) && nowMs >= state.probedMs + LAST_RESORT_MS;
  if (open ? mayProbe : rank > 0 && probeDue) {
    state.probingSinceMs = nowMs;
    return 'probe';
  }
  return open ? 'busy' : 'free';
}

function isProbing({ probingSinceMs }: State, nowMs: number): boolean {
  return probingSinceMs !== undefined && nowMs - probingSinceMs < LEASE_MS_MAX;
}

/** When an attempt that timed out began; now for other failures, which happen as they are noticed. */
function silentSince({ kind, lastedMs = 0 }: FailureFacts, nowMs: number): number {
  return kind === 'timeout' ? nowMs - lastedMs : nowMs;
}

/** Resets all failures after a successful probe. */
function recover(state: State, nowMs: number): void {
  state.probingSinceMs = undefined;
  state.probedMs = nowMs;
  state.open = false;
  state.streak = 0;
  state.onProbation = false;
  state.recoveredMs = nowMs;
  clearCounts(state.traffic);
}

/** Only a new demotion and a failed probe set the time of the next probe: what was under way says nothing new. */
function demote(state: State, wasNormal: boolean, wasProbe: boolean, nowMs: number): void {
  if (!wasNormal && !wasProbe) return;
  if (wasNormal && look(state, nowMs).rank === 0) return;
  const isRelapse = wasProbe || nowMs - state.recoveredMs < RELAPSE_MS;
  state.relapses = isRelapse ? state.relapses + 1 : 0;
  state.probeAtMs = nowMs + Math.min(PROBE_MS_MAX, PROBE_MS * 2 ** Math.min(state.relapses, 10));
}

/** A limited endpoint is in cooldown for as long as it says. A cooldown is only ever extended (@spec fallback-17). */
function coolAfter(state: State, failure: FailureFacts, nowMs: number): void {
  const limited = failure.errorType === 'rate_limit_exceeded' || failure.errorType === 'provider_overloaded';
  const { retryAfterMs, upstreamStatus } = failure;
  const isNamed = retryAfterMs !== undefined && (limited || upstreamStatus === 503);
  if (!isNamed && !limited) return;
  const untilMs = nowMs + (isNamed ? retryAfterMs : COOLDOWN_MS);
  const isRunning = state.restUntilMs > nowMs;
  state.restNamed = isNamed || (isRunning && state.restNamed);
  state.restUntilMs = Math.max(state.restUntilMs, untilMs);
  state.onProbation = true;
}

const NOT_AGAINST_UPTIME: ReadonlySet<number> = new Set([400, 403, 413, 422, 429, 451]);

/** @spec fallback-21 */
function countsAgainst(failure: FailureFacts): boolean {
  const { kind, clock, upstreamStatus } = failure;
  if (kind === 'aborted' || kind === 'unsayable' || clock === 'total') return false;
  // A media address that cannot be fetched, or the like: no upstream was called.
  if (upstreamStatus === undefined && failure.status < 500 && kind !== 'timeout') return false;
  return upstreamStatus === undefined || !NOT_AGAINST_UPTIME.has(upstreamStatus);
}
