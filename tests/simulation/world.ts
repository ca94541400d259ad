import { classifyStatus, timeoutFailure, transportFailure } from '../../src/canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../src/canonical/failure/failure.ts';
import { unreachable } from '../../src/lib/assert.ts';
import type { Endpoint, Model } from '../../src/catalog/model.ts';
import { createRandom, type Random } from '../support/random.ts';

/** What is wrong with an endpoint for a while. */
export interface Fault {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly kind: 'down' | 'silent' | 'brown-out' | 'limited' | 'flapping';
  /** Share of requests that fail in a brown-out. */
  readonly share: number;
  /** What a limited endpoint says to wait; 0: it says nothing. */
  readonly retryAfterMs: number;
}

export interface SimulatedEndpoint {
  readonly name: string;
  readonly faults: readonly Fault[];
}

/** What an upstream does with one request. */
export interface Outcome {
  readonly afterMs: number;
  readonly failure: UpstreamFailure | undefined;
}

export interface World {
  readonly endpoints: readonly SimulatedEndpoint[];
  /** The model with the prices of that time; the same object while they stay. */
  modelAt(ms: number): Model;
  answer(name: string, ms: number): Outcome;
  /** Whether the endpoint would answer every request of this time. */
  isUp(name: string, fromMs: number, untilMs: number): boolean;
  /** The outage of that moment. */
  outageOf(name: string, ms: number): Fault | undefined;
  /** Since when nothing is wrong anywhere; `undefined` while something is. */
  quietSinceMs(ms: number): number | undefined;
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
/** USD per million tokens, prompt and completion. */
const PRICES = [1, 1.2, 1.5, 2, 2.5, 3];
const EPISODE_MS = 260_000;
const FLAP_MS = 10_000;
/** Where more than one kind of fault may be at once, some last longer than others. */
const QUIET_MS = 120_000;
const PRICES_EVERY_MS = 4 * EPISODE_MS;

export function createWorld(seed: number, durationMs: number): World {
  const random = createRandom(seed);
  const endpoints = NAMES.map((name) => ({ name, faults: [] as Fault[] }));
  for (let startMs = QUIET_MS; startMs + EPISODE_MS < durationMs; startMs += EPISODE_MS)
    addEpisode(endpoints, startMs, random);
  const models = Array.from({ length: Math.ceil(durationMs / PRICES_EVERY_MS) + 1 }, () => createModel(random));
  const faults = endpoints.flatMap((endpoint) => endpoint.faults);
  const byName = new Map(endpoints.map((endpoint) => [endpoint.name, endpoint.faults]));
  const faultAt = (name: string, ms: number): Fault | undefined =>
    byName.get(name)?.find(({ fromMs, untilMs }) => fromMs <= ms && ms < untilMs);
  return {
    endpoints,
    modelAt: (ms) => models[Math.floor(ms / PRICES_EVERY_MS)] ?? createModel(random),
    answer(name, ms) {
      const fault = faultAt(name, ms);
      const failure = fault === undefined ? undefined : failureOf(fault, ms, random);
      if (failure === undefined) return { afterMs: 100 + random.next() * 700, failure };
      return { afterMs: failure.kind === 'timeout' ? 1_500 : 2 + random.next() * 40, failure };
    },
    isUp: (name, fromMs, untilMs) =>
      byName.get(name)?.every((fault) => fault.untilMs <= fromMs || fault.fromMs > untilMs) === true,
    outageOf(name, ms) {
      const fault = faultAt(name, ms);
      return fault?.kind === 'down' || fault?.kind === 'silent' ? fault : undefined;
    },
    quietSinceMs(ms) {
      if (faults.some(({ fromMs, untilMs }) => fromMs <= ms && ms < untilMs)) return undefined;
      return Math.max(0, ...faults.filter(({ untilMs }) => untilMs <= ms).map(({ untilMs }) => untilMs));
    },
  };
}

/** Some endpoints, at times all but one, at times all, fail together in ways of their own. */
function addEpisode(endpoints: readonly { readonly faults: Fault[] }[], startMs: number, random: Random): void {
  const failing = random.chance(0.1) ? endpoints.length : random.int(1, endpoints.length - 1);
  const kinds = ['down', 'silent', 'brown-out', 'limited', 'flapping'] as const;
  for (const { faults } of endpoints.toSorted(() => random.next() - 0.5).slice(0, failing)) {
    const fromMs = startMs + random.next() * 10_000;
    faults.push({
      fromMs,
      untilMs: fromMs + 20_000 + random.next() * 90_000,
      kind: random.pick(kinds),
      share: 0.1 + random.next() * 0.6,
      retryAfterMs: random.pick([0, 1_000, 8_000, 40_000]),
    });
  }
}

function createModel(random: Random): Model {
  const prices = PRICES.toSorted(() => random.next() - 0.5);
  return { slug: 'acme/one', name: 'One', endpoints: NAMES.map((name, at) => createEndpoint(name, prices[at] ?? 1)) };
}

function createEndpoint(name: string, usdPerMillion: number): Endpoint {
  const prompt = usdPerMillion * 400_000;
  return {
    model: 'acme/one',
    provider: name,
    providerName: name.toUpperCase(),
    upstreamModel: 'one',
    price: { prompt, completion: usdPerMillion * 600_000, cacheRead: prompt / 10 },
    dataPolicy: {},
    formats: ['chat'],
    cancellable: true,
  };
}

function failureOf(fault: Fault, ms: number, random: Random): UpstreamFailure | undefined {
  switch (fault.kind) {
    case 'down':
      return random.chance(0.5) ? classifyStatus(500, {}) : transportFailure('connect');
    case 'silent':
      return timeoutFailure('first-token');
    case 'brown-out':
      return random.chance(fault.share) ? classifyStatus(502, {}) : undefined;
    case 'flapping':
      return Math.floor((ms - fault.fromMs) / FLAP_MS) % 2 === 0 ? classifyStatus(503, {}) : undefined;
    case 'limited':
      return {
        ...classifyStatus(429, {}),
        ...(fault.retryAfterMs > 0 && { retryAfterMs: Math.min(fault.retryAfterMs, Math.ceil(fault.untilMs - ms)) }),
      };
    default:
      return unreachable(fault.kind);
  }
}
