import { samplePrincipal } from '../accounts/test-principal.ts';
import { DEFAULT_PREFERENCES } from '../canonical/directives.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { openRouteReport } from '../canonical/route-report.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import { RequestLog } from '../telemetry/request-log.ts';
import { ResponseMeter, type ServingEndpoint } from '../telemetry/response-meter.ts';
import { AttemptLog } from './attempt/attempt-log.ts';
import { settle } from './billing/settle.ts';
import type { RequestFacts } from './request.ts';

/** 1 and 2 USD a million tokens. */
export const sampleEndpoint: Endpoint = {
  model: 'acme/one',
  provider: 'first',
  providerName: 'First',
  upstreamModel: 'one',
  price: { prompt: 1_000_000, completion: 2_000_000 },
  dataPolicy: {},
  formats: ['chat'],
  cancellable: true,
};

export const sampleRequest: GenerationRequest = {
  format: 'chat',
  delivery: 'stream',
  turns: [{ role: 'user', blocks: [{ type: 'text', text: 'a question of some length' }], plain: true }],
  tools: [],
  settings: {},
  directives: {
    models: ['acme/one'],
    provider: DEFAULT_PREFERENCES,
    plugins: [],
    echoUpstreamBody: false,
    serviceMetadata: false,
    betas: [],
  },
  warnings: [],
};

/** Log, report and meter of a streamed chat request, at a time that stands still. */
export function sampleFacts(request: GenerationRequest = sampleRequest): RequestFacts {
  return {
    log: new RequestLog({ id: 'gen-1', request, principal: samplePrincipal(), endUserId: 'u', createdMs: 0 }),
    report: openRouteReport('acme/one', 0),
    meter: new ResponseMeter(),
  };
}

/** An attempt of the request at a candidate. */
export function sampleAttempt(
  facts: RequestFacts,
  candidate: { readonly endpoint: Endpoint; readonly credential?: { readonly label: string } } = {
    endpoint: sampleEndpoint,
  },
  limits?: Pick<ServingEndpoint, 'expectedTokens' | 'tokensMax' | 'reservedTokens'>,
): AttemptLog {
  return new AttemptLog(facts, candidate, () => 0, limits);
}

/** The record of the request as it stands, stored nowhere. */
export function settledRecord(facts: RequestFacts): GenerationRecord {
  const deps = { store: () => Promise.resolve(), observe: () => undefined, clock: { monotonicMs: () => 0 } };
  return settle(deps, facts, { close: () => undefined }).record;
}
