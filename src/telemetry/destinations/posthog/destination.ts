import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { baseUrlMember, below, headersMember, secretMember } from '../config-members.ts';
import type { CallAnswer, DestinationType, ExportedGeneration, OutboundCall, Verdict } from '../contract.ts';
import { judgeStatus } from '../delivery/judge.ts';
import { operationOf, providerNameOf, traceMembers } from '../otlp/generation-attributes.ts';
import { spansOf } from '../otlp/generation-spans.ts';
import { chatInput, chatOutput } from '../otlp/messages.ts';
import type { Span } from '../otlp/span.ts';
import { faultOfTest } from '../otlp/otlp-destination.ts';

const US = 'https://us.i.posthog.com';
const MB = 1_024 * 1_024;
const MS_PER_S = 1_000;
/** The way of today's SDK for AI events; own servers may know the older one alone. */
const PATH = '/i/v0/ai/batch/';
const OLDER_PATH = '/batch/';

const schema = z.strictObject({
  apiKey: secretMember.describe('The key of the project: `phc_...`'),
  endpoint: baseUrlMember(US).describe('`https://eu.i.posthog.com` in the EU.'),
  headers: headersMember.optional(),
  compression: z.boolean().optional(),
});

/** @source posthog.com/docs/llm-analytics/manual-capture, event properties; posthog.com/docs/api/capture, batches; posthog-node 5.70, read 2026-11 */
export const posthog: DestinationType = {
  type: 'posthog',
  label: 'PostHog LLM analytics',
  schema,
  secrets: ['apiKey', 'headers'],
  open(config) {
    const { apiKey, endpoint = US, headers = {} } = schema.parse(config);
    const post = (path: string, body: object, ids: readonly string[]): OutboundCall => ({
      url: below(endpoint, path),
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ids,
    });
    return {
      url: below(endpoint, PATH),
      limits: { records: 100, bytes: 5 * MB },
      calls: (batch, nowMs) => [
        post(
          PATH,
          { api_key: apiKey, batch: batch.flatMap(eventsOf), sent_at: new Date(nowMs).toISOString() },
          batch.map(({ id }) => id),
        ),
      ],
      judge: (call, answer) => judge(call, answer),
      test: () => [
        {
          call: flags(post('/flags/', { api_key: apiKey, distinct_id: 'connection-test' }, [])),
          judge: (answer) => faultOfTest(answer, 'config.apiKey, config.endpoint'),
        },
      ],
    };
  },
};

/** The version of the answer. */
function flags(call: OutboundCall): OutboundCall {
  return { ...call, url: `${call.url}?v=2` };
}

function eventsOf(generation: ExportedGeneration): readonly JsonObject[] {
  const [own, ...tools] = spansOf(generation, 'generation');
  return [eventOf(generation, own), ...tools.map((span) => toolEventOf(generation, span))];
}

function toolEventOf(generation: ExportedGeneration, span: Span): JsonObject {
  const { endUserId, sessionId } = generation;
  return {
    event: '$ai_span',
    uuid: uuidOf(span.spanId),
    distinct_id: endUserId ?? sessionId ?? span.traceId,
    timestamp: new Date(span.endMs).toISOString(),
    properties: {
      $ai_trace_id: span.traceId,
      $ai_span_id: span.spanId,
      $ai_span_name: span.name,
      ...(span.parentSpanId !== undefined && { $ai_parent_id: span.parentSpanId }),
      ...(sessionId !== undefined && { $ai_session_id: sessionId }),
      ...(endUserId === undefined && { $process_person_profile: false }),
      $ai_latency: (span.endMs - span.startMs) / MS_PER_S,
      $ai_is_error: span.status !== undefined,
      $ai_lib: 'model-gateway',
    },
  };
}

function eventOf(generation: ExportedGeneration, span: Span | undefined): JsonObject {
  const traceId = span?.traceId ?? generation.requestId;
  const { endUserId, sessionId } = generation;
  return {
    event: operationOf(generation) === 'embeddings' ? '$ai_embedding' : '$ai_generation',
    uuid: uuidOf(generation.id),
    distinct_id: endUserId ?? sessionId ?? traceId,
    timestamp: new Date(generation.endMs).toISOString(),
    properties: {
      // A caller's own keys never stand for those of PostHog.
      ...Object.fromEntries(traceMembers(generation.trace).filter(([key]) => !key.startsWith('$'))),
      $ai_trace_id: traceId,
      $ai_span_id: span?.spanId ?? null,
      $ai_span_name: span?.name ?? null,
      ...(span?.parentSpanId !== undefined && { $ai_parent_id: span.parentSpanId }),
      ...(sessionId !== undefined && { $ai_session_id: sessionId }),
      ...(endUserId === undefined && { $process_person_profile: false }),
      ...propertiesOf(generation),
      $ai_lib: 'model-gateway',
    },
  };
}

function propertiesOf(generation: ExportedGeneration): JsonObject {
  const { tokens, cost, content, error, startMs, endMs, firstTokenMs, streamed } = generation;
  return {
    $ai_model: generation.model,
    $ai_provider: providerNameOf(generation),
    $ai_model_parameters: { ...generation.settings },
    $ai_latency: (endMs - startMs) / MS_PER_S,
    ...(streamed && firstTokenMs !== undefined && { $ai_time_to_first_token: (firstTokenMs - startMs) / MS_PER_S }),
    $ai_stream: streamed,
    $ai_http_status: generation.status,
    $ai_is_error: error !== undefined,
    ...(error !== undefined && { $ai_error: error.message ?? error.type }),
    ...(generation.finishReason !== undefined && { $ai_stop_reason: generation.finishReason }),
    $ai_completion_id: generation.id,
    ...(tokens !== undefined && {
      $ai_input_tokens: tokens.prompt,
      $ai_output_tokens: tokens.completion,
      $ai_total_tokens: tokens.prompt + tokens.completion,
      $ai_cache_read_input_tokens: tokens.cacheRead,
      $ai_cache_creation_input_tokens: tokens.cacheWrite,
      // The prompt contains the cached tokens.
      $ai_cache_reporting_exclusive: false,
      ...(tokens.reasoning !== undefined && { $ai_reasoning_tokens: tokens.reasoning }),
    }),
    ...(cost !== undefined && {
      $ai_total_cost_usd: usdFromNano(cost.total),
      ...(cost.prompt !== undefined && { $ai_input_cost_usd: usdFromNano(cost.prompt) }),
      ...(cost.completion !== undefined && { $ai_output_cost_usd: usdFromNano(cost.completion) }),
    }),
    ...(content !== undefined && { $ai_input: chatInput(content), $ai_output_choices: [chatOutput(content)] }),
  };
}

/** Repeats of an event are one event by this id: version 5 in form, of SHA-256. */
function uuidOf(id: string): string {
  const hex = createHash('sha256').update(id).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}

/** 200 says that a batch has come, and may say that nothing of it is kept. */
function judge(call: OutboundCall, answer: CallAnswer): Verdict {
  if (answer.status === 404 && call.url.endsWith(PATH))
    return { kind: 'next', call: { ...call, url: call.url.replace(PATH, OLDER_PATH) }, afterMs: 0 };
  const verdict = judgeStatus(answer);
  if (verdict.kind !== 'taken') return verdict;
  const limited: Json | undefined = parseJsonObject(answer.text)?.['quota_limited'];
  if (Array.isArray(limited) ? limited.length > 0 : isJsonObject(limited))
    return { kind: 'fault', message: 'The quota of the project is used up.' };
  return verdict;
}
