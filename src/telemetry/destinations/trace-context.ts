import type { TraceContext } from './contract.ts';

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
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
