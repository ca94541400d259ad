import { z } from 'zod';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { baseUrlMember, below, headersMember, secretMember, textMember } from '../config-members.ts';
import type { CallAnswer, DestinationType, ExportedGeneration, OutboundCall, Service, Verdict } from '../contract.ts';
import { judgeStatus } from '../delivery/judge.ts';
import { operationOf, providerNameOf, traceMembers } from '../otlp/generation-attributes.ts';
import { nanoOf } from '../otlp/encode-json.ts';
import { spansOf } from '../otlp/generation-spans.ts';
import { chatInput, chatOutput } from '../otlp/messages.ts';
import { faultOfTest } from '../otlp/otlp-destination.ts';
import type { Span } from '../otlp/span.ts';

const US1 = 'https://api.datadoghq.com';
const MB = 1_024 * 1_024;
const DAY_MS = 86_400_000;
const MS_PER_S = 1_000;
const NANO_PER_MILLI = 1_000_000;
const TAG_CHARS_MAX = 200;

const schema = z.strictObject({
  url: baseUrlMember(US1).describe(
    '`https://api.SITE`: `us3.datadoghq.com`, `us5.datadoghq.com`, `datadoghq.eu`, `ap1.datadoghq.com`.',
  ),
  apiKey: secretMember,
  mlApp: textMember.describe('The name of the application.'),
  headers: headersMember.optional(),
});

/** @source docs.datadoghq.com/llm_observability/instrumentation/api, "Spans API", read 2026-11 */
export const datadog: DestinationType = {
  type: 'datadog',
  label: 'Datadog LLM Observability',
  schema,
  secrets: ['apiKey', 'headers'],
  isUncompressed: true,
  open(config, service) {
    const { url = US1, apiKey, mlApp, headers = {} } = schema.parse(config);
    const address = below(url, '/api/intake/llm-obs/v1/trace/spans');
    const all = { ...headers, 'dd-api-key': apiKey };
    return {
      url: address,
      limits: { bytes: 4 * MB, ageMsMax: DAY_MS },
      calls: (batch) =>
        bySession(batch).map((group): OutboundCall => ({
          url: address,
          method: 'POST',
          headers: { ...all, 'content-type': 'application/json' },
          body: encode(mlApp, service, group),
          ids: group.map(({ id }) => id),
        })),
      judge: (_call, answer) => judge(answer),
      test: () => [
        {
          call: { url: below(url, '/api/v1/validate'), method: 'GET', headers: all, ids: [] },
          judge: (answer) => faultOfTest(answer, 'config.apiKey, config.url'),
        },
      ],
    };
  },
};

/** The session stands beside the spans of a call, and so a call has the spans of one. */
function bySession(batch: readonly ExportedGeneration[]): readonly (readonly ExportedGeneration[])[] {
  return [...Map.groupBy(batch, ({ sessionId }) => sessionId).values()];
}

/** 19 digits are more than a JavaScript number holds: they are written as they are. */
function encode(mlApp: string, service: Service, group: readonly ExportedGeneration[]): string {
  const sessionId = group[0]?.sessionId;
  const attributes = {
    ml_app: mlApp,
    ...(sessionId !== undefined && { session_id: sessionId }),
    tags: [`service:${service.name}`, ...(service.environment === undefined ? [] : [`env:${service.environment}`])],
  };
  const spans = group.flatMap((generation) =>
    spansOf(generation, 'generation').map((span) => encodeSpan(span, generation)),
  );
  const others = JSON.stringify(attributes).slice(0, -1);
  return `{"data":{"type":"span","attributes":${others},"spans":[${spans.join(',')}]}}}`;
}

function encodeSpan(span: Span, generation: ExportedGeneration): string {
  return `{"start_ns":${nanoOf(span.startMs)},${JSON.stringify(spanOf(span, generation)).slice(1)}`;
}

function spanOf(span: Span, generation: ExportedGeneration): JsonObject {
  if (span.role === 'tool') return toolSpanOf(span, generation);
  const { endUserId, trace, id, cost, identity } = generation;
  const tags: readonly (readonly [string, string | number | boolean | undefined])[] = [
    ['generation_id', id],
    ['user_id', endUserId],
    // A parent that is not sent there makes no tree.
    ['caller_parent_id', span.parentSpanId],
    ['key_name', identity?.keyName],
    ['cost_usd', cost && usdFromNano(cost.total)],
    ...traceMembers(trace),
  ];
  return {
    ...placeOf(span),
    // A parent that is not sent there makes no tree: only a tool of this gateway is.
    parent_id:
      generation.startedBy?.kind === 'tool' && span.parentSpanId !== undefined ? span.parentSpanId : 'undefined',
    tags: tags.flatMap(([key, value]) => (value === undefined ? [] : [`${key}:${value}`.slice(0, TAG_CHARS_MAX)])),
    meta: metaOf(generation),
    metrics: metricsOf(generation),
  };
}

function placeOf(span: Span): JsonObject {
  return {
    name: span.name,
    trace_id: span.traceId,
    span_id: span.spanId,
    duration: Math.round(span.endMs - span.startMs) * NANO_PER_MILLI,
    status: span.status === undefined ? 'ok' : 'error',
  };
}

function toolSpanOf(span: Span, { id }: ExportedGeneration): JsonObject {
  return {
    ...placeOf(span),
    parent_id: span.parentSpanId ?? 'undefined',
    tags: [`generation_id:${id}`],
    meta: { kind: 'tool' },
    metrics: {},
  };
}

const KINDS: Readonly<Record<string, string>> = { embeddings: 'embedding', rerank: 'task' };

function metaOf(generation: ExportedGeneration): JsonObject {
  const { content, error, settings, finishReason } = generation;
  const kind = KINDS[operationOf(generation)] ?? 'llm';
  return {
    kind,
    model_name: generation.model,
    model_provider: providerNameOf(generation),
    metadata: { ...settings, finish_reason: finishReason, status: generation.status },
    ...(content !== undefined && {
      input: { messages: chatInput(content).map(messageOf) },
      output: { messages: [messageOf(chatOutput(content))] },
    }),
    ...(error !== undefined && { error: { type: error.type, message: error.message ?? error.type } }),
  };
}

function messageOf({ role, content, tool_calls: calls }: JsonObject): JsonObject {
  return {
    role,
    content: typeof content === 'string' ? content : JSON.stringify(content),
    ...(Array.isArray(calls) && { tool_calls: calls.filter(isJsonObject).map(toolCallOf) }),
  };
}

function toolCallOf({ id, function: called }: JsonObject): JsonObject {
  const { name, arguments: input } = isJsonObject(called) ? called : {};
  return { name, arguments: parsed(input), tool_id: id, type: 'function' };
}

function parsed(input: unknown): JsonObject {
  return (typeof input === 'string' ? parseJsonObject(input) : undefined) ?? {};
}

function metricsOf({ tokens, streamed, firstTokenMs, startMs }: ExportedGeneration): JsonObject {
  return {
    ...(tokens !== undefined && {
      input_tokens: tokens.prompt,
      output_tokens: tokens.completion,
      total_tokens: tokens.prompt + tokens.completion,
      cache_read_input_tokens: tokens.cacheRead,
      cache_write_input_tokens: tokens.cacheWrite,
      ...(tokens.reasoning !== undefined && { reasoning_output_tokens: tokens.reasoning }),
    }),
    ...(streamed && firstTokenMs !== undefined && { time_to_first_token: (firstTokenMs - startMs) / MS_PER_S }),
  };
}

/** The wait stands in a header of its own. */
function judge(answer: CallAnswer): Verdict {
  const verdict = judgeStatus(answer);
  const resetS = Number(answer.headers['x-ratelimit-reset'] ?? Number.NaN);
  if (verdict.kind !== 'retry' || verdict.afterMs !== undefined || Number.isNaN(resetS)) return verdict;
  return { ...verdict, afterMs: resetS * MS_PER_S };
}
