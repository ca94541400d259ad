import type { ExportedGeneration, ExportedStep } from '../contract.ts';
import { generationAttributes, operationOf, traceText } from './generation-attributes.ts';
import { attemptSpanId, stepSpanId, traceIdOf } from '../trace-context.ts';
import { hexOf, SPAN_KIND, STATUS_ERROR, type Attributes, type Span, type SpanEvent } from './span.ts';

/** What is made of a record: its own span, or one for each step of its request, too. */
export type SpanShape = 'generation' | 'tree';

const SPAN_ID = /^[0-9a-f]{16}$/;
/** Bits of `flags`: what is known of the parent, and that it is of another process. @source opentelemetry-proto 1.9, `SpanFlags` */
const CONTEXT_KNOWN = 0x100;
const PARENT_IS_REMOTE = 0x200;

/** The spans of a record. Their ids follow from its own: a record that is sent again has the same. */
export function spansOf(generation: ExportedGeneration, shape: SpanShape): readonly Span[] {
  const place = placeOf(generation);
  const alone = spanOf(generation, place);
  const requestSpanId = hexOf(`${generation.requestId}|request`, 16);
  const isTree = shape === 'tree';
  const parentSpanId = parentOf(generation, isTree) ?? (isTree ? requestSpanId : undefined);
  const own = parentSpanId === undefined ? alone : { ...alone, parentSpanId, flags: CONTEXT_KNOWN, links: [] };
  const tools = stepSpans(generation, 'tool', own);
  if (!isTree) return [own, ...tools];
  const steps = [...attemptSpans(generation, own), ...tools];
  const plugins = (parent: Span): readonly Span[] => stepSpans(generation, 'plugin', parent);
  // A generation inside another one belongs to the span of what runs it, or else of the request that both are of.
  if (generation.id !== generation.requestId) return [own, ...plugins(own), ...steps];
  const request = requestSpan(generation, place, requestSpanId);
  return [request, ...plugins(request), own, ...steps];
}

/** Of a generation that a tool or a plugin of another one runs. */
function parentOf({ startedBy }: ExportedGeneration, isTree: boolean): string | undefined {
  if (startedBy === undefined) return undefined;
  // Without a tree there are no spans of plugins.
  if (startedBy.kind === 'plugin' && !isTree) return hexOf(startedBy.generationId, 16);
  return stepSpanId(startedBy.generationId, startedBy);
}

/** What ran beside the model: the arguments and results of tools are content, and are not kept. */
function stepSpans({ id, steps = [] }: ExportedGeneration, kind: ExportedStep['kind'], parent: Span): readonly Span[] {
  return steps
    .filter((step) => step.kind === kind)
    .map((step) => ({
      role: kind,
      traceId: parent.traceId,
      spanId: stepSpanId(id, step),
      parentSpanId: parent.spanId,
      name: kind === 'tool' ? `execute_tool ${step.name}` : `plugin ${step.name}`,
      kind: SPAN_KIND.internal,
      startMs: step.startMs,
      endMs: step.endMs,
      attributes: kind === 'tool' ? toolAttributes(step) : { 'gateway.plugin': step.name },
      events: [],
      links: [],
      flags: CONTEXT_KNOWN,
      ...(step.hasFailed && { status: { code: STATUS_ERROR } }),
    }));
}

function toolAttributes({ name, type, callId, hasFailed }: ExportedStep): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.type': 'extension',
    'gen_ai.tool.call.id': callId,
    'gateway.tool.type': type,
    'error.type': hasFailed ? 'tool_error' : undefined,
  };
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
    role: 'generation',
    ...place,
    spanId: hexOf(generation.id, 16),
    name,
    kind: SPAN_KIND.client,
    startMs,
    endMs,
    attributes: generationAttributes(generation),
    events: [
      ...retries(generation),
      ...(firstTokenMs === undefined
        ? []
        : [{ name: 'gateway.first_token', atMs: Math.min(firstTokenMs, endMs), attributes: {} }]),
    ],
    ...(error !== undefined && { status: statusOf(error.message) }),
  };
}

/** Each attempt that another one followed, at its end: kinds whose trees have no attempts know of them so. */
function retries({ context, startMs, endMs }: ExportedGeneration): readonly SpanEvent[] {
  let atMs = startMs;
  return (context?.attempts ?? []).slice(0, -1).map(({ provider, model, status, latencyMs }, index) => {
    atMs = Math.min(endMs, atMs + latencyMs);
    const attributes: Attributes = {
      'gateway.attempt': index + 1,
      'gateway.provider': provider,
      'gateway.upstream_model': model,
      'http.response.status_code': status ?? undefined,
      'error.type': String(status ?? 'no_response'),
    };
    return { name: 'gateway.retry', atMs, attributes };
  });
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
  decisions: '/alpha/decisions',
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
    role: 'request',
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
      role: 'attempt',
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
