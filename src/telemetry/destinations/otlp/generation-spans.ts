import type { ExportedGeneration, ExportedStep } from '../contract.ts';
import { generationAttributes, operationOf, traceText, usdDouble } from './generation-attributes.ts';
import { NO_SPAN, stepSpanId, traceIdOf } from '../trace-context.ts';
import { attemptSpans, routeSpans } from './attempt-spans.ts';
import { eventsOf } from './span-events.ts';
import { CONTEXT_KNOWN, hexOf, SPAN_KIND, STATUS_ERROR, type Attributes, type Span } from './span.ts';

/** What is made of a record: its own span, or one for each step of its request, too. */
export type SpanShape = 'generation' | 'tree';

const SPAN_ID = /^[0-9a-f]{16}$/;
/** A bit of `flags`: the parent is of another process. @source opentelemetry-proto 1.9, `SpanFlags` */
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
  if (generation.id !== generation.requestId) return [own, ...plugins(own), ...routeSpans(generation, own), ...steps];
  const request = requestSpan(generation, place, requestSpanId);
  return [request, ...plugins(request), ...routeSpans(generation, request), own, ...steps];
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
  const { trace, error, startMs, endMs } = generation;
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
    events: eventsOf(generation),
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
  decisions: '/alpha/decisions',
};

/** It has no name of a model call: tools that add up traces count those. */
function requestSpan(generation: ExportedGeneration, place: Place, spanId: string): Span {
  const { startMs, endMs, apiType, error, cost } = generation;
  const attributes: Attributes = {
    'http.request.method': 'POST',
    'url.path': PATHS[apiType],
    'http.response.status_code': generation.status,
    'gateway.request.id': generation.requestId,
    'session.id': generation.sessionId,
    'user.id': generation.endUserId,
    'error.type': error?.type,
    // Under a name that nothing adds up: the spans below have each its own.
    'gateway.request.cost': usdDouble(cost && cost.total + (cost.nested ?? 0)),
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

function spanIdOf(text: string): string {
  return SPAN_ID.test(text) && text !== NO_SPAN ? text : hexOf(text, 16);
}
