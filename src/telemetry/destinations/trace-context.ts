import type { Directives } from '../../canonical/directives.ts';
import type { StartedBy } from '../../canonical/tools/nested-generation.ts';
import type { JsonObject } from '../../lib/json.ts';
import { boundTrace } from './bound-trace.ts';
import type { TraceContext } from './contract.ts';
import { traceText } from './otlp/generation-attributes.ts';
import { hexOf } from './otlp/span.ts';

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const NO_TRACE = '0'.repeat(32);
/** No span has it. */
export const NO_SPAN = '0'.repeat(16);
const STATE_CHARS_MAX = 512;
const STATE_MEMBERS_MAX = 32;

/**
 * Reads the headers of a request; `undefined`: there is no valid parent. A version that is not known is read by its first
 * four fields.
 * @source W3C "Trace Context", level 1, 3.2 and 3.3, read 2026-11
 */
export function parseTraceContext(parent: string | undefined, state: string | undefined): TraceContext | undefined {
  const found = parent === undefined ? null : TRACEPARENT.exec(parent.trim());
  if (found === null) return undefined;
  const [whole, version, traceId = '', parentSpanId = '', flags = ''] = found;
  if (version === 'ff' || traceId === NO_TRACE || parentSpanId === NO_SPAN) return undefined;
  if (version === '00' && whole.length !== parent?.trim().length) return undefined;
  const isState =
    state !== undefined && state.length <= STATE_CHARS_MAX && state.split(',').length <= STATE_MEMBERS_MAX;
  return { traceId, parentSpanId, flags: Number.parseInt(flags, 16), ...(isState && { state }) };
}

const TRACE_ID = /^[0-9a-f]{32}$/;

/** The trace of a request: the body says it, then the headers, then the request itself. */
export function traceIdOf(trace: JsonObject, traceContext: TraceContext | undefined, requestId: string): string {
  const text = traceText(trace, 'trace_id');
  if (text === undefined) return traceContext?.traceId ?? hexOf(requestId, 32);
  // As the caller's own tracing has it, where it is such an id; else one that is always the same for its text.
  const bare = text.replaceAll('-', '').toLowerCase();
  return TRACE_ID.test(bare) && bare !== NO_TRACE ? bare : hexOf(text, 32);
}

/** @param attempt its place among the attempts of the generation, from 0 */
export function attemptSpanId(generationId: string, attempt: number): string {
  return hexOf(`${generationId}|attempt|${attempt}`, 16);
}

/** @param step its kind and its name among those of its generation */
export function stepSpanId(generationId: string, { kind, key }: StartedBy): string {
  return hexOf(`${generationId}|${kind}|${key}`, 16);
}

/** A bit of the flags. */
export const SAMPLED = 1;

/**
 * Headers by which an upstream or a tool joins the trace of a request, below a span of the gateway. Those of the caller are
 * never sent as they came. @spec destination-23
 */
export function outgoingTraceHeaders(
  { requestId, directives }: { readonly requestId: string; readonly directives: Directives },
  spanId: string,
): Readonly<Record<string, string>> {
  const { trace = {}, traceContext: headers } = directives;
  const incoming = parseTraceContext(headers?.parent, headers?.state);
  const traceId = traceIdOf(boundTrace(trace), incoming, requestId);
  const own = incoming?.traceId === traceId ? incoming : undefined;
  const flags = own === undefined || (own.flags & SAMPLED) === SAMPLED ? '01' : '00';
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(own?.state !== undefined && { tracestate: own.state }),
  };
}
