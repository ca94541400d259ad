import { samplePrincipal } from './principal.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import { openRouteReport } from '../../src/canonical/route-report.ts';
import type { Endpoint } from '../../src/catalog/model.ts';
import type { GenerationRecord } from '../../src/telemetry/record.ts';
import { RequestLog } from '../../src/telemetry/request-log.ts';
import { ResponseMeter, type ServingEndpoint } from '../../src/telemetry/response-meter.ts';
import { AttemptLog } from '../../src/pipeline/attempt/attempt-log.ts';
import { settle } from '../../src/pipeline/billing/settle.ts';
import type { RequestFacts } from '../../src/pipeline/request.ts';
import { plainDirectives } from './plain-directives.ts';

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
  directives: plainDirectives('acme/one'),
  warnings: [],
};

/** Log, report and meter of a streamed chat request, at a time that stands still. */
export function sampleFacts(request: GenerationRequest = sampleRequest): RequestFacts {
  return {
    log: Object.assign(
      new RequestLog({ id: 'gen-1', request, principal: samplePrincipal(), endUserId: 'u', createdMs: 0 }),
      { hasRoom: true },
    ),
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
