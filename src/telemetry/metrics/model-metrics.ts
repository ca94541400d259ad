import { apiTypeOf } from '../../canonical/operation.ts';
import type { JsonObject } from '../../lib/json.ts';
import { operationOf, providerNameOf } from '../destinations/otlp/generation-attributes.ts';
import {
  FIRST_TOKEN_BOUNDS,
  OUTPUT_TOKEN_BOUNDS,
  SECOND_BOUNDS,
  TOKEN_BOUNDS,
} from '../destinations/otlp/metric-bounds.ts';
import type { Attributes } from '../destinations/otlp/span.ts';
import type { GenerationRecord } from '../record.ts';
import { Histogram } from './histogram.ts';

/** Metrics of models in the names of the GenAI conventions: no key, user or session is in any of them. */
export interface ModelMetrics {
  observe(record: GenerationRecord): void;
  /** Those that have a value, as OTLP in JSON has them. */
  encode(nowMs: number): readonly JsonObject[];
  /** Begins anew with the next observation: what was encoded is counted elsewhere. */
  reset(nowMs: number): void;
}

const MS_PER_S = 1_000;
/** Of models and tools; callers can make up more. */
const NAMES_MAX = 500;
const OTHER = 'other';

/** @param temporality whether each report has everything since the start, or what came since the one before */
export function createModelMetrics(temporality: 'cumulative' | 'delta', startMs: number): ModelMetrics {
  const names = new Set<string>();
  const open = (name: string, unit: string, bounds: readonly number[]): Histogram =>
    new Histogram({ name, unit, bounds, temporality, startMs });
  const all = {
    tokens: open('gen_ai.client.token.usage', '{token}', TOKEN_BOUNDS),
    operation: open('gen_ai.client.operation.duration', 's', SECOND_BOUNDS),
    firstChunk: open('gen_ai.client.operation.time_to_first_chunk', 's', SECOND_BOUNDS),
    firstToken: open('gen_ai.server.time_to_first_token', 's', FIRST_TOKEN_BOUNDS),
    outputToken: open('gen_ai.server.time_per_output_token', 's', OUTPUT_TOKEN_BOUNDS),
    request: open('gen_ai.server.request.duration', 's', SECOND_BOUNDS),
    tool: open('gen_ai.execute_tool.duration', 's', SECOND_BOUNDS),
  };
  const known = (name: string): string => {
    if (names.size < NAMES_MAX) names.add(name);
    return names.has(name) ? name : OTHER;
  };

  return {
    observe(record) {
      const common = commonAttributes(record, known);
      observeAttempts(all, record, common);
      observeRequest(all, record, common);
      for (const { kind, name, durationMs, hasFailed } of record.steps) {
        if (kind !== 'tool') continue;
        const attributes = { 'gen_ai.tool.name': known(name), 'error.type': hasFailed ? 'tool_error' : undefined };
        all.tool.add(durationMs / MS_PER_S, attributes);
      }
    },
    encode: (nowMs) =>
      Object.values(all)
        .map((histogram) => histogram.encode(nowMs))
        .filter((metric) => metric !== undefined),
    reset(nowMs) {
      for (const histogram of Object.values(all)) histogram.reset(nowMs);
    },
  };
}

type Histograms = Readonly<
  Record<'tokens' | 'operation' | 'firstChunk' | 'firstToken' | 'outputToken' | 'request' | 'tool', Histogram>
>;

function commonAttributes(
  { request, report, endpoint }: GenerationRecord,
  known: (name: string) => string,
): Attributes {
  return {
    'gen_ai.operation.name': operationOf({ apiType: apiTypeOf(request) }),
    'gen_ai.provider.name': providerNameOf(endpoint === undefined ? {} : { provider: endpoint.provider }),
    'gen_ai.request.model': known(report.requested),
    'gen_ai.response.model': known(endpoint?.model ?? report.requested),
  };
}

/** The gateway as a client of providers: what attempts took. */
function observeAttempts(
  { tokens, operation, firstChunk }: Histograms,
  { attempts, report, request, firstTokenMs, usage, endpoint, error }: GenerationRecord,
  common: Attributes,
): void {
  let lostMs = 0;
  for (const { provider, status, latencyMs } of attempts) {
    if (status === 200) continue;
    lostMs += latencyMs;
    const attributes = {
      ...common,
      'gen_ai.provider.name': providerNameOf({ provider }),
      'gen_ai.response.model': undefined,
      'error.type': String(status ?? 'no_response'),
    };
    operation.add(latencyMs / MS_PER_S, attributes);
  }
  // What came from the cache was no operation of a provider.
  if (endpoint === undefined || !attempts.some(({ status }) => status === 200)) return;
  const issuedMs = report.arrivedMs + lostMs;
  const since = (ms: number): number => Math.max(0, ms - issuedMs) / MS_PER_S;
  operation.add(since(report.endedMs ?? issuedMs), { ...common, 'error.type': error?.type });
  if (request.delivery === 'stream' && firstTokenMs !== undefined) firstChunk.add(since(firstTokenMs), common);
  if (usage === undefined) return;
  tokens.add(usage.promptTokens, { ...common, 'gen_ai.token.type': 'input' });
  tokens.add(usage.completionTokens, { ...common, 'gen_ai.token.type': 'output' });
}

/** The gateway as a server of callers: what they saw, of requests of their own. */
function observeRequest(
  { firstToken, outputToken, request: duration }: Histograms,
  { id, requestId, report, request, firstTokenMs, usage, error }: GenerationRecord,
  common: Attributes,
): void {
  if (id !== requestId) return;
  const { arrivedMs, endedMs = arrivedMs } = report;
  duration.add((endedMs - arrivedMs) / MS_PER_S, { ...common, 'error.type': error?.type });
  if (request.delivery !== 'stream' || firstTokenMs === undefined) return;
  firstToken.add((firstTokenMs - arrivedMs) / MS_PER_S, common);
  const further = (usage?.completionTokens ?? 0) - 1;
  if (further > 0) outputToken.add((endedMs - firstTokenMs) / MS_PER_S / further, common);
}
