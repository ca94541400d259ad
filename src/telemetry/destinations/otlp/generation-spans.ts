import type { ExportedGeneration } from '../contract.ts';
import { generationAttributes, operationOf, traceText } from './generation-attributes.ts';
import { attemptSpanId, traceIdOf } from '../trace-context.ts';
import { hexOf, SPAN_KIND, STATUS_ERROR, type Attributes, type Span } from './span.ts';

/** What is made of a record: its own span, or one for each step of its request, too. */
export type SpanShape = 'generation' | 'tree';

const SPAN_ID = /^[0-9a-f]{16}$/;
/** Bits of `flags`: what is known of the parent, and that it is of another process. @source opentelemetry-proto 1.9, `SpanFlags` */
const CONTEXT_KNOWN = 0x100;
const PARENT_IS_REMOTE = 0x200;

/** The spans of a record. Their ids follow from its own: a record that is sent again has the same. */
export function spansOf(generation: ExportedGeneration, shape: SpanShape): readonly Span[] {
  const place = placeOf(generation);
  const own = spanOf(generation, place);
  if (shape === 'generation') return [own];
  const requestSpanId = hexOf(`${generation.requestId}|request`, 16);
  const child = { ...own, parentSpanId: requestSpanId, flags: CONTEXT_KNOWN, links: [] };
  const attempts = attemptSpans(generation, child);
  // A generation inside another one belongs to the span of the request that both are of.
  if (generation.id !== generation.requestId) return [child, ...attempts];
  return [requestSpan(generation, place, requestSpanId), child, ...attempts];
}

interface Place extends Pick<Span, 'traceId' | 'parentSpanId' | 'traceState' | 'flags' | 'links'> {}

/** In whose trace a record is: the body says it, then the headers, then the request itself. */
function placeOf({ trace, traceContext, requestId }: ExportedGeneration): Place {
  const bodyParent = traceText(trace, 'parent_span_id');
  const traceId = traceIdOf(trace, traceContext, requestId);
  const isOfHeader = traceContext?.traceId === traceId;
  const parentSpanId =
    bodyParent === undefined ? (isOfHeader ? traceContext?.parentSpanId : undefined) : spanIdOf(bodyParent);
  return {
    traceId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...(isOfHeader && traceContext?.state !== undefined && { traceState: traceContext.state }),
    flags: (traceContext?.flags ?? 0) | (parentSpanId === undefined ? 0 : CONTEXT_KNOWN | PARENT_IS_REMOTE),
    links:
      traceContext === undefined || isOfHeader
        ? []
        : [{ traceId: traceContext.traceId, spanId: traceContext.parentSpanId }],
  };
}

function spanOf(generation: ExportedGeneration, place: Place): Span {
  const { trace, error, firstTokenMs, startMs, endMs } = generation;
  const name =
    traceText(trace, 'generation_name') ??
    traceText(trace, 'span_name') ??
    `${operationOf(generation)} ${generation.modelRequested}`;
  return {
    ...place,
    spanId: hexOf(generation.id, 16),
    name,
    kind: SPAN_KIND.client,
    startMs,
    endMs,
    attributes: generationAttributes(generation),
    events:
      firstTokenMs === undefined
        ? []
        : [{ name: 'gateway.first_token', atMs: Math.min(firstTokenMs, endMs), attributes: {} }],
    ...(error !== undefined && { status: statusOf(error.message) }),
  };
}

function statusOf(message: string | undefined): NonNullable<Span['status']> {
  return { code: STATUS_ERROR, ...(message !== undefined && { message }) };
}

const PATHS: Readonly<Record<ExportedGeneration['apiType'], string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
  rerank: '/v1/rerank',
  image: '/v1/images',
  stt: '/v1/audio/transcriptions',
  tts: '/v1/audio/speech',
  video: '/v1/videos',
};

/** It has no name of a model call: tools that add up traces count those. */
function requestSpan(generation: ExportedGeneration, place: Place, spanId: string): Span {
  const { startMs, endMs, apiType, error } = generation;
  const attributes: Attributes = {
    'http.request.method': 'POST',
    'url.path': PATHS[apiType],
    'http.response.status_code': generation.status,
    'gateway.request.id': generation.requestId,
    'session.id': generation.sessionId,
    'user.id': generation.endUserId,
    'error.type': error?.type,
  };
  return {
    ...place,
    spanId,
    name: traceText(generation.trace, 'trace_name') ?? `POST ${PATHS[apiType]}`,
    kind: SPAN_KIND.server,
    startMs,
    endMs,
    attributes,
    events: [],
    ...(error !== undefined && { status: statusOf(error.message) }),
  };
}

/**
 * Of several, or of one whose provider has received its span; else a single attempt is the generation itself. They came
 * one after the other, and the last one ends with it.
 */
function attemptSpans({ id, context, endMs }: ExportedGeneration, parent: Span): readonly Span[] {
  const attempts = context?.attempts ?? [];
  if (attempts.length < 2 && attempts[0]?.isTraced !== true) return [];
  let startMs = parent.startMs;
  return attempts.map(({ provider, model, status, latencyMs }, index) => {
    const isLast = index === attempts.length - 1;
    const attemptEndMs = isLast ? endMs : Math.min(endMs, startMs + latencyMs);
    const isFailed = status === null || status >= 400;
    const span: Span = {
      traceId: parent.traceId,
      spanId: attemptSpanId(id, index),
      parentSpanId: parent.spanId,
      name: `attempt ${index + 1} ${provider}`,
      kind: SPAN_KIND.client,
      startMs,
      endMs: attemptEndMs,
      attributes: {
        'gateway.attempt': index + 1,
        'gateway.provider': provider,
        'gateway.upstream_model': model,
        'http.response.status_code': status ?? undefined,
        'error.type': isFailed ? String(status ?? 'no_response') : undefined,
      },
      events: [],
      links: [],
      flags: CONTEXT_KNOWN,
      ...(isFailed && { status: { code: STATUS_ERROR } }),
    };
    startMs = attemptEndMs;
    return span;
  });
}

function spanIdOf(text: string): string {
  return SPAN_ID.test(text) ? text : hexOf(text, 16);
}
