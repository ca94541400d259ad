import { createHash } from 'node:crypto';
import type { Json } from '../../../lib/json.ts';

/** A number that is a double on the wire, also where it is a whole one: receivers go by the type. */
export class Double {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** Objects and lists as they are, where a receiver takes more than texts: in events. */
export class Structured {
  readonly value: Json;
  constructor(value: Json) {
    this.value = value;
  }
}

export type AttributeValue = string | number | boolean | readonly string[] | Double | Structured;

const INT64_MAX = 2 ** 63;

/** Whether a number is an integer on the wire; others are doubles. */
export function fitsInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -INT64_MAX && value < INT64_MAX;
}

/** An attribute that is undefined is left out. Numbers are integers. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** @source opentelemetry-proto 1.9, trace.proto, `SpanKind`, read 2026-11 */
export const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const;
export const STATUS_ERROR = 2;
/** A bit of `flags`: it is known whether the parent is of another process. @source opentelemetry-proto 1.9, `SpanFlags` */
export const CONTEXT_KNOWN = 0x100;

/** What of a request a span is: usage, cost and content stand in that of the generation alone. */
export type SpanRole = 'request' | 'plugin' | 'route' | 'generation' | 'attempt' | 'tool';

/** A span as both encodings write it. */
export interface Span {
  /** It is not written. */
  readonly role: SpanRole;
  /** Hex, 32 digits; ids of spans have 16. */
  readonly traceId: string;
  readonly traceState?: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  /** Unix ms. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
  /** Absent: unset. */
  readonly status?: { readonly code: number; readonly message?: string };
  readonly flags: number;
}

export interface SpanEvent {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: Attributes;
}

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
}

/** What an export request contains. */
export interface SpanExport {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
  readonly spans: readonly Span[];
}

/** The same digits for the same text, always. */
export function hexOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
