import type { JsonObject } from '../../lib/json.ts';
import type { ExportedGeneration } from './contract.ts';
import { operationOf, providerNameOf, traceMembers } from './otlp/generation-attributes.ts';
import { chatInput, chatOutput } from './otlp/messages.ts';
import { Double, SPAN_KIND, Structured, type Span } from './otlp/span.ts';

const NANO_PER_MILLI = 1_000_000;
const KINDS: Readonly<Record<number, string>> = {
  [SPAN_KIND.internal]: 'INTERNAL',
  [SPAN_KIND.server]: 'SERVER',
  [SPAN_KIND.client]: 'CLIENT',
};

/** A span as a row of a table: the columns of its generation stand in the row of that span alone. */
export interface SpanRow {
  readonly timestamp: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly durationNs: number;
  readonly statusCode: string;
  readonly statusMessage: string;
  readonly generationId: string;
  readonly sessionId: string;
  readonly userId: string;
  readonly model: string;
  readonly requestModel: string;
  readonly provider: string;
  readonly operation: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly reasoningTokens: number | null;
  /** USD, nine decimals. */
  readonly cost: string | null;
  readonly timeToFirstTokenMs: number | null;
  readonly finishReason: string;
  /** JSON. */
  readonly input: string;
  readonly output: string;
  readonly traceMetadata: Readonly<Record<string, string>>;
  readonly attributes: Readonly<Record<string, string>>;
}

export function toSpanRow(span: Span, generation: ExportedGeneration): SpanRow {
  const isOwn = span.role === 'generation';
  const { tokens, cost, content, firstTokenMs, startMs } = generation;
  const count = (value: number | undefined): number | null => (isOwn ? (value ?? null) : null);
  return {
    timestamp: new Date(span.startMs).toISOString(),
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    name: span.name,
    kind: KINDS[span.kind] ?? '',
    durationNs: Math.round(span.endMs - span.startMs) * NANO_PER_MILLI,
    statusCode: span.status === undefined ? 'UNSET' : 'ERROR',
    statusMessage: span.status?.message ?? '',
    generationId: generation.id,
    sessionId: generation.sessionId ?? '',
    userId: generation.endUserId ?? '',
    model: generation.model,
    requestModel: generation.modelRequested,
    provider: providerNameOf(generation),
    operation: isOwn ? operationOf(generation) : span.role === 'tool' ? 'execute_tool' : '',
    inputTokens: count(tokens?.prompt),
    outputTokens: count(tokens?.completion),
    cacheReadTokens: count(tokens?.cacheRead),
    cacheWriteTokens: count(tokens?.cacheWrite),
    reasoningTokens: count(tokens?.reasoning),
    cost: isOwn && cost !== undefined ? decimalOf(cost.total) : null,
    timeToFirstTokenMs: count(firstTokenMs === undefined ? undefined : Math.round(firstTokenMs - startMs)),
    finishReason: isOwn ? (generation.finishReason ?? '') : '',
    input: isOwn && content !== undefined ? JSON.stringify(chatInput(content)) : '',
    output: isOwn && content !== undefined ? JSON.stringify(chatOutput(content)) : '',
    traceMetadata: Object.fromEntries(traceMembers(generation.trace).map(([key, value]) => [key, String(value)])),
    attributes: textsOf(span),
  };
}

const NANO_DIGITS = 9;

/** Exact, and never in exponents. */
function decimalOf(nanoUsd: number): string {
  const digits = String(Math.abs(nanoUsd)).padStart(NANO_DIGITS + 1, '0');
  return `${nanoUsd < 0 ? '-' : ''}${digits.slice(0, -NANO_DIGITS)}.${digits.slice(-NANO_DIGITS)}`;
}

/** Attributes that no column has. */
function textsOf({ attributes }: Span): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([key, value]) => {
      if (value === undefined || COLUMNS.test(key)) return [];
      if (value instanceof Double) return [[key, String(value.value)]];
      if (value instanceof Structured) return [[key, JSON.stringify(value.value)]];
      return [[key, typeof value === 'object' ? JSON.stringify(value) : String(value)]];
    }),
  );
}

const COLUMNS =
  /^(?:gen_ai\.(?:usage|input|output|response\.(?:id|model|finish)|operation|provider|conversation|request\.model)|trace\.metadata|session\.id|user\.id)/;

/** The members of a row under other names. */
export function renameRow(row: SpanRow, nameOf: (member: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(row).map(([member, value]) => [nameOf(member), value]));
}
