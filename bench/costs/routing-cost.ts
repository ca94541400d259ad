// What planning one request and listing the models cost, without a socket, and what a million picks leave in memory: run by
// routing.ts in a process of its own.
import * as z from 'zod';

import { DEFAULT_PREFERENCES } from '../../src/canonical/directives.ts';
import { transportFailure } from '../../src/canonical/failure/classify-failure.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import type { Endpoint, Model } from '../../src/catalog/model.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { endpointName } from '../../src/routing/endpoint-name.ts';
import { createHealth } from '../../src/routing/health.ts';
import { planCandidates } from '../../src/routing/plan.ts';
import type { PlanInput } from '../../src/routing/route-plan.ts';
import { createEndpointStats } from '../../src/routing/stats.ts';
import { createStickySessions } from '../../src/routing/sticky.ts';
import { UPSTREAM_FORMATS } from '../../src/app/upstream-formats.ts';
import { cpuTimeOf } from './cpu-time.ts';
import { createListing } from './listing-cost.ts';
import { plainDirectives } from '../../tests/support/plain-directives.ts';

const costSchema = z.object({
  what: z.string(),
  us: z.number(),
  /** The promise, where there is one. */
  usMax: z.number().optional(),
});
type RoutingCost = Readonly<z.infer<typeof costSchema>>;

export const resultSchema = z.object({
  costs: z.array(costSchema),
  /** What a million picks, each of a session of its own, left on the heap beyond the first tenth of them. */
  keptMiB: z.number(),
});
export type RoutingResult = Readonly<z.infer<typeof resultSchema>>;

const PICKS = 1_000_000;
const MIB = 1_048_576;
const LISTING_US_MAX = 20_000;

function createModels(models: number, endpointsEach: number): readonly Model[] {
  return Array.from({ length: models }, (_, model): Model => {
    const slug = `bench/model-${model}`;
    return {
      slug,
      name: slug,
      endpoints: Array.from({ length: endpointsEach }, (_none, at) => createEndpoint(slug, at)),
    };
  });
}

function createEndpoint(model: string, at: number): Endpoint {
  return {
    model,
    provider: `provider-${at}`,
    providerName: `Provider ${at}`,
    upstreamModel: model,
    price: { prompt: 1_000_000 + at * 37_000, completion: 4_000_000 + at * 91_000, cacheRead: 100_000 },
    contextTokensMax: 200_000,
    outputTokensMax: 32_000,
    quantization: at % 2 === 0 ? 'fp8' : 'bf16',
    supportedParameters: new Set(['tools', 'temperature', 'response_format', 'max_tokens']),
    dataPolicy: { training: false, retentionDays: at % 3 === 0 ? 30 : 0 },
    formats: ['chat'],
    cancellable: true,
  };
}

function createRequest(changes: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'stream',
    turns: [{ role: 'user', blocks: [{ type: 'text', text: 'What is the capital of France?' }], plain: true }],
    tools: [],
    settings: { temperature: 1, maxTokens: 1_000 },
    directives: plainDirectives('bench/model-0'),
    warnings: [],
    ...changes,
  };
}

/** The parts as the gateway has them, with traffic and a failing endpoint in ten in memory. */
function createInput(models: readonly Model[], changes: Partial<PlanInput> = {}): PlanInput {
  const health = createHealth({ clock: systemClock });
  const stats = createEndpointStats({ clock: systemClock });
  for (const [at, endpoint] of models.flatMap(({ endpoints }) => endpoints).entries()) {
    const name = endpointName(endpoint);
    health.succeeded(name, 'free');
    if (at % 10 === 9) health.failed(name, transportFailure('reset'), 'free');
    for (let answer = 0; answer < 20; answer++)
      stats.finished(name, { firstTokenMs: 200 + at * 20, totalMs: 2_000, outputTokens: 200 - at });
  }
  return {
    request: createRequest(),
    models,
    preferences: DEFAULT_PREFERENCES,
    formats: UPSTREAM_FORMATS,
    health: (endpoint) => health.look(endpointName(endpoint)),
    metrics: (endpoint) => stats.routing(endpointName(endpoint)),
    random: 0.5,
    ...changes,
  };
}

function measurePlan(what: string, input: PlanInput, usMax?: number): RoutingCost {
  return measure(`planning one request: ${what}`, () => planCandidates({ ...input, random: Math.random() }), usMax);
}

function measure(what: string, run: () => unknown, usMax?: number): RoutingCost {
  return { what, us: cpuTimeOf(run), ...(usMax !== undefined && { usMax }) };
}

/** Sessions come and go, and failures happen: what is kept of them is bounded. */
function measureKept(): number {
  const input = createInput(createModels(1, 6));
  const sticky = createStickySessions({ clock: systemClock });
  let after = 0;
  for (let pick = 0; pick < PICKS; pick++) {
    const plain = createRequest();
    const request = { ...plain, directives: { ...plain.directives, sessionId: `session-${pick}` } };
    const session = sticky.sessionOf(request, 'account');
    const { candidates } = planCandidates({ ...input, request, random: Math.random() });
    const [first] = candidates;
    if (first !== undefined && session !== undefined) sticky.succeeded(session, first.endpoint, undefined);
    if (pick === PICKS / 10) after = heapMiB();
  }
  return heapMiB() - after;
}

function heapMiB(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / MIB;
}

function measureAll(): RoutingResult {
  const twenty = createModels(1, 20);
  const tools = createRequest({
    tools: [{ type: 'function', name: 'look_up', parameters: { type: 'object' } }],
  });
  const userTexts = { ...DEFAULT_PREFERENCES, zdr: true, maxPrice: { prompt: 5 }, preferredMaxLatency: { p90: 3 } };
  return {
    costs: [
      measurePlan('20 endpoints', createInput(twenty), 20),
      measurePlan('3 models, 60 endpoints', createInput(createModels(3, 20)), 60),
      measurePlan('20 endpoints, tools', createInput(twenty, { request: tools })),
      measurePlan('20 endpoints, preferences', createInput(twenty, { preferences: userTexts })),
      measurePlan(
        '20 endpoints, sorted by latency',
        createInput(twenty, { preferences: { ...DEFAULT_PREFERENCES, sort: { by: 'latency' } } }),
      ),
      measure('listing 500 models', createListing(), LISTING_US_MAX),
    ],
    keptMiB: measureKept(),
  };
}

if (import.meta.main) console.log(JSON.stringify(measureAll()));
