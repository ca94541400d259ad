// The time that a router adds to a request, without a socket: classification, candidate pool and the choice itself. Run
// by routers.ts in a process of its own.
import * as z from 'zod';

import { DEFAULT_PREFERENCES } from '../../src/canonical/directives.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import type { Model } from '../../src/catalog/model.ts';
import { classifyTask } from '../../src/model-selection/classify/classify-task.ts';
import { choosePareto, type ParetoModel, type ParetoPreference } from '../../src/model-selection/rank/pareto.ts';
import { mergeRules } from '../../src/accounts/policy/policy.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openCandidatePool } from '../../src/pipeline/route/candidate-pool.ts';
import { createEndpointStats } from '../../src/routing/stats.ts';
import { UPSTREAM_FORMATS } from '../../src/app/upstream-formats.ts';
import { cpuTimeOf } from './cpu-time.ts';
import { plainDirectives } from '../../tests/support/plain-directives.ts';

export const resultSchema = z.array(
  z.object({
    what: z.string(),
    us: z.number(),
    /** The promise, where there is one. */
    usMax: z.number().optional(),
  }),
);
export type RouterCosts = Readonly<z.infer<typeof resultSchema>>;
type RouterCost = RouterCosts[number];

const MODELS = 300;
const PROMPT_CHARS = 8_192;
const PARETO_US_MAX = 50;
const CLASSIFY_US_MAX = 200;

/** CPU time of one call. */
function measure(what: string, run: () => unknown, usMax?: number): RouterCost {
  return { what, us: cpuTimeOf(run), ...(usMax !== undefined && { usMax }) };
}

function createRequest(text: string): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'stream',
    turns: [
      { role: 'system', blocks: [{ type: 'text', text: 'You help developers.' }], plain: true },
      { role: 'user', blocks: [{ type: 'text', text }], plain: true },
    ],
    tools: [],
    settings: { maxTokens: 1_000 },
    directives: plainDirectives('service/auto'),
    warnings: [],
  };
}

/** Prose with code in it, as people paste it. */
function createPrompt(chars: number): string {
  const part =
    'Please look at this function and tell me why the second test fails after the latest change to the parser.\n' +
    'const entries = lines.filter((line) => line.length > 0).map((line) => line.split(","));\n' +
    'The customer wants a summary of it in plain words, and the numbers of last month in a table.\n';
  return part.repeat(Math.ceil(chars / part.length)).slice(0, chars);
}

/** Prices and scores that have nothing to do with each other: the frontier is short, and everything has to be looked at. */
function createField(): readonly ParetoModel[] {
  return Array.from({ length: MODELS }, (_, at) => ({
    slug: `bench/model-${at}`,
    price: ((at * 7_919) % 1_000) / 100,
    score: ((at * 104_729) % 997) / 997,
    throughput: (at * 31) % 200,
  }));
}

function createModels(): readonly Model[] {
  return Array.from({ length: MODELS }, (_, at): Model => {
    const slug = `bench/model-${at}`;
    const price = { prompt: 1_000_000 + at * 37_000, completion: 4_000_000 + at * 91_000 };
    return {
      slug,
      name: slug,
      outputModalities: ['text'],
      endpoints: ['first', 'second'].map((provider) => ({
        model: slug,
        provider,
        providerName: provider,
        upstreamModel: slug,
        price,
        contextTokensMax: 200_000,
        supportedParameters: new Set(['tools', 'temperature', 'response_format', 'max_tokens']),
        dataPolicy: {},
        formats: ['chat'],
        cancellable: true,
      })),
    };
  });
}

function measurePareto(what: string, preference: ParetoPreference): RouterCost {
  const field = createField();
  return measure(`pareto over ${MODELS} models: ${what}`, () => choosePareto(field, preference), PARETO_US_MAX);
}

function measureField(): RouterCost {
  const models = createModels();
  const parts = {
    catalog: { list: () => models },
    stats: createEndpointStats({ clock: systemClock }),
    formats: UPSTREAM_FORMATS,
  };
  const rules = { preferences: DEFAULT_PREFERENCES, permissions: mergeRules([]) };
  const request = createRequest('Write a poem');
  return measure(`finding the candidates: ${MODELS} models, ${2 * MODELS} endpoints`, () =>
    openCandidatePool(parts, request, rules),
  );
}

function measureAll(): RouterCosts {
  const long = createRequest(createPrompt(PROMPT_CHARS));
  return [
    measure('telling what a prompt of 8 KB is about', () => classifyTask(long), CLASSIFY_US_MAX),
    measureField(),
    measurePareto('the high tier', {}),
    measurePareto('the low tier', { scoreMin: 0.1 }),
    measurePareto('the fastest', { fastest: true }),
    measurePareto('under a cap', { priceMax: 4 }),
  ];
}

if (import.meta.main) console.log(JSON.stringify(measureAll()));
