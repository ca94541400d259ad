import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';
import { serializeInputMessages, serializeOutputMessages } from './messages.ts';
import type { ExportedGeneration, IncludedParts } from './contract.ts';

/** `SpanKind` and `StatusCode` of opentelemetry-proto 1.9, trace.proto, read 2026-11. */
const SPAN_KIND_CLIENT = 3;
const STATUS_ERROR = 2;
export const SCOPE = 'model-gateway';
const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;
/** Keys of `trace` that have a meaning; the others become attributes. @spec destination-7 */
const TRACE_KEYS: ReadonlySet<string> = new Set([
  'trace_id',
  'trace_name',
  'span_name',
  'generation_name',
  'parent_span_id',
]);
const NS_PER_MS = '000000';

/** An OTLP export request in its JSON encoding: one span a generation. @source opentelemetry.io "OTLP Specification", JSON Protobuf Encoding, read 2026-11 */
export function serializeTraces(batch: readonly ExportedGeneration[], included: IncludedParts): JsonObject {
  if (batch.length === 0) return { resourceSpans: [] };
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': SCOPE }) },
        scopeSpans: [{ scope: { name: SCOPE }, spans: batch.map((generation) => serializeSpan(generation, included)) }],
      },
    ],
  };
}

function serializeSpan(generation: ExportedGeneration, included: IncludedParts): JsonObject {
  const { trace, id, error, firstTokenMs } = generation;
  const parent = textOf(trace['parent_span_id']);
  const name = textOf(trace['generation_name']) ?? textOf(trace['span_name']) ?? `chat ${generation.model}`;
  return {
    traceId: traceIdOf(textOf(trace['trace_id']) ?? generation.id),
    spanId: hexOf(id, 16),
    ...(parent !== undefined && { parentSpanId: SPAN_ID.test(parent) ? parent : hexOf(parent, 16) }),
    name,
    kind: SPAN_KIND_CLIENT,
    startTimeUnixNano: nanoOf(generation.startMs),
    endTimeUnixNano: nanoOf(generation.endMs),
    attributes: attributesOf({
      ...modelAttributes(generation),
      ...traceAttributes(trace),
      ...(included.cost &&
        generation.costNanoUsd !== null && { 'gen_ai.usage.cost': usdFromNano(generation.costNanoUsd) }),
      ...(included.identity && identityAttributes(generation)),
      ...(included.requestContext && contextAttributes(generation)),
      ...(included.content && contentAttributes(generation)),
    }),
    events:
      firstTokenMs === undefined
        ? []
        : [{ name: 'gateway.first_token', timeUnixNano: nanoOf(firstTokenMs), attributes: [] }],
    status: error === undefined ? {} : { code: STATUS_ERROR, message: error.message },
  };
}

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/**
 * Names of the GenAI conventions, status "development". What they have no name for stands below `gateway.`, but for
 * `session.id` and `user.id`, which are general ones, and the cost, which tools read there.
 * @source opentelemetry.io "Semantic conventions for generative client AI spans" and the registry of `gen_ai`, schema
 * gen-ai/1.42.0, read 2026-11
 */
function modelAttributes(generation: ExportedGeneration): Attributes {
  const { tokens, settings, sessionId, error } = generation;
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': generation.provider,
    'gen_ai.request.model': generation.modelRequested,
    'gen_ai.request.max_tokens': settings.maxTokens,
    'gen_ai.request.temperature': settings.temperature,
    'gen_ai.request.top_p': settings.topP,
    'gen_ai.response.id': generation.id,
    'gen_ai.response.model': generation.model,
    'gen_ai.response.finish_reasons': generation.finishReason === undefined ? undefined : [generation.finishReason],
    'gen_ai.usage.input_tokens': tokens.prompt,
    'gen_ai.usage.output_tokens': tokens.completion,
    'gen_ai.usage.cache_read.input_tokens': tokens.cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': tokens.cacheWrite,
    'gen_ai.usage.reasoning.output_tokens': tokens.reasoning,
    'gen_ai.conversation.id': sessionId,
    'session.id': sessionId,
    'user.id': generation.endUserId,
    'error.type': error?.type,
    'gateway.usage.estimated': tokens.estimated || undefined,
    'gateway.cancelled': generation.cancelled || undefined,
    'gateway.streamed': generation.streamed,
    'gateway.status': generation.status,
  };
}

function identityAttributes({ identity }: ExportedGeneration): Attributes {
  return {
    'gateway.api_key.hash': identity.keyHash,
    'gateway.api_key.name': identity.keyName,
    'gateway.workspace.id': identity.workspaceId,
    'gateway.member.id': identity.memberId,
  };
}

function contextAttributes({ context, format }: ExportedGeneration): Attributes {
  return {
    'gateway.app.url': context.appUrl,
    'gateway.app.title': context.appTitle,
    'user_agent.original': context.userAgent,
    'gateway.region': context.region,
    'gateway.format': format,
    'gateway.attempts': context.attempts,
    'gateway.strategy': context.strategy,
  };
}

function contentAttributes({ content, finishReason }: ExportedGeneration): Attributes {
  if (content === undefined) return {};
  return {
    'gen_ai.input.messages': JSON.stringify(serializeInputMessages(content)),
    'gen_ai.output.messages': JSON.stringify(serializeOutputMessages(content, finishReason)),
  };
}

function traceAttributes(trace: JsonObject): Attributes {
  const attributes: Record<string, string | number | boolean> = {};
  const name = textOf(trace['trace_name']);
  if (name !== undefined) attributes['trace.name'] = name;
  for (const [key, value] of Object.entries(trace)) {
    if (TRACE_KEYS.has(key) || value === null || value === undefined) continue;
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    attributes[`trace.metadata.${key}`] = isPlain ? value : JSON.stringify(value);
  }
  return attributes;
}

export function attributesOf(attributes: Attributes): readonly JsonObject[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: valueOf(key, value) }],
  );
}

/** Doubles by the conventions, also where the number is a whole one: receivers go by the type. */
const DOUBLES: ReadonlySet<string> = new Set([
  'gen_ai.request.temperature',
  'gen_ai.request.top_p',
  'gen_ai.usage.cost',
]);

function valueOf(key: string, value: string | number | boolean | readonly string[]): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  // 64-bit integers are texts in the JSON encoding.
  if (typeof value === 'number')
    return Number.isInteger(value) && !DOUBLES.has(key) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } };
}

/** As the caller's own tracing has it, where it is such an id; else one that is always the same for its text. */
function traceIdOf(text: string): string {
  const bare = text.replaceAll('-', '').toLowerCase();
  return TRACE_ID.test(bare) ? bare : hexOf(text, 32);
}

function hexOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

export function nanoOf(ms: number): string {
  return `${Math.round(ms)}${NS_PER_MS}`;
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
