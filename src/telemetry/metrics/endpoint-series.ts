import type { Registry } from 'prom-client';
import type { Usage } from '../../canonical/usage.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { countSteps, kept, observeSteps, type Steps } from './steps.ts';

/** What is counted of one model at one provider. */
export interface EndpointSeries {
  requests(format: string, status: number): Steps;
  /** Seconds. */
  readonly duration: Steps;
  /** Seconds. */
  readonly firstToken: Steps;
  countTokens(usage: Usage): void;
  /** USD. */
  readonly spend: Steps;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160];
/** Labels come from the catalog, not from callers, but pass-through names are open: beyond this they are `other`. */
const MODELS_MAX = 2_000;

/** @returns the series of an endpoint; of `undefined`: of requests that reached none */
export function createEndpointSeries(
  registers: Registry[],
): (endpoint: Pick<Endpoint, 'model' | 'provider'> | undefined) => EndpointSeries {
  const open = openSeries(registers);
  const none = open('none', 'none');
  const byModel = new Map<string, Map<string, EndpointSeries>>();
  const others = new Map<string, EndpointSeries>();
  return (endpoint) => {
    if (endpoint === undefined) return none;
    const { model, provider } = endpoint;
    let byProvider = byModel.get(model);
    if (byProvider === undefined && byModel.size < MODELS_MAX) byModel.set(model, (byProvider = new Map()));
    return kept(byProvider ?? others, provider, () => open(byProvider === undefined ? 'other' : model, provider));
  };
}

function openSeries(registers: Registry[]): (model: string, provider: string) => EndpointSeries {
  const requests = countSteps({
    name: 'gateway_requests_total',
    help: 'Generation requests by outcome.',
    labelNames: ['format', 'model', 'provider', 'status'] as const,
    registers,
  });
  const firstToken = observeSteps({
    name: 'gateway_time_to_first_token_seconds',
    help: 'Time from arrival to the first content, for responses with content.',
    labelNames: ['model', 'provider'] as const,
    buckets: SECONDS,
    registers,
  });
  const duration = observeSteps({
    name: 'gateway_request_duration_seconds',
    help: 'Time from arrival to the end of the response.',
    labelNames: ['model', 'provider'] as const,
    buckets: SECONDS,
    registers,
  });
  const tokens = countSteps({
    name: 'gateway_tokens_total',
    help: 'Tokens by kind; prompt includes cached ones, completion includes reasoning.',
    labelNames: ['model', 'provider', 'kind'] as const,
    registers,
  });
  const spend = countSteps({
    name: 'gateway_cost_usd_total',
    help: 'Charged cost in USD.',
    labelNames: ['model', 'provider'] as const,
    registers,
  });
  return (model, provider) => {
    const outcomes = new Map<string, Steps>();
    return {
      requests: (format, status) =>
        kept(outcomes, `${format} ${status}`, () => requests({ format, model, provider, status })),
      duration: duration({ model, provider }),
      firstToken: firstToken({ model, provider }),
      countTokens: tokenCounter((kind) => tokens({ model, provider, kind })),
      spend: spend({ model, provider }),
    };
  };
}

function tokenCounter(of: (kind: string) => Steps): EndpointSeries['countTokens'] {
  const prompt = of('prompt');
  const completion = of('completion');
  const cacheRead = of('cache_read');
  const cacheWrite = of('cache_write');
  const reasoning = of('reasoning');
  return (usage) => {
    prompt.add(usage.promptTokens);
    completion.add(usage.completionTokens);
    cacheRead.add(usage.cacheReadTokens);
    cacheWrite.add(usage.cacheWriteTokens);
    reasoning.add(usage.reasoningTokens ?? 0);
  };
}
