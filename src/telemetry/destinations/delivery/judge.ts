import type { CallAnswer, Verdict } from '../contract.ts';
import { isJsonObject, parseJsonObject } from '../../../lib/json.ts';
import { decodeExportResponse, decodeStatusMessage, type DecodedAnswer } from '../otlp/decode-answer.ts';

const MS_PER_S = 1_000;

/** Later the same call may succeed. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
/** The credentials or the address have to be changed first. */
const FAULTS: ReadonlySet<number> = new Set([401, 403, 404, 405, 410]);

/** What an answer means where nothing more is known of the address. Redirects are never followed. @spec destination-10 */
export function judgeStatus(answer: CallAnswer): Verdict {
  const { status } = answer;
  const message = messageOf(answer);
  if (status >= 200 && status < 300) return { kind: 'taken' };
  if ((status >= 300 && status < 400) || FAULTS.has(status)) return { kind: 'fault', message };
  const afterMs = retryAfterOf(answer);
  if (PASSING.has(status) || status > 500) return { kind: 'retry', message, ...(afterMs !== undefined && { afterMs }) };
  return { kind: 'rejected', message };
}

/**
 * What a receiver of OTLP answers: spans that it rejects it rejects for good, and 500 is the fault of a span.
 * @source opentelemetry.io "OTLP Specification", OTLP/HTTP Response and Failures, read 2026-11
 */
export function judgeOtlp(answer: CallAnswer): Verdict {
  if (answer.status === 500) return { kind: 'rejected', message: messageOf(answer) };
  const verdict = judgeStatus(answer);
  if (verdict.kind !== 'taken') return verdict;
  const partial = partialSuccessIn(answer);
  if (partial === undefined) return verdict;
  const { rejected, message } = partial;
  return {
    kind: 'taken',
    ...(rejected > 0 && { refusedCount: rejected }),
    ...(message !== '' && { warning: `Status ${answer.status}: ${message}` }),
  };
}

/** What a receiver did not take of a call that it took. It answers in the encoding of the call. */
function partialSuccessIn({ text, headers, bytes }: CallAnswer): DecodedAnswer | undefined {
  if (bytes !== undefined && isProtobuf(headers)) {
    const decoded = decodeExportResponse(bytes);
    return decoded && { ...decoded, message: oneLine(decoded.message) };
  }
  const partial = parseJsonObject(text)?.['partialSuccess'];
  if (!isJsonObject(partial)) return undefined;
  const rejected = Number(partial['rejectedSpans'] ?? partial['rejectedDataPoints'] ?? 0);
  const message = typeof partial['errorMessage'] === 'string' ? partial['errorMessage'] : '';
  return { rejected: Number.isNaN(rejected) ? 0 : rejected, message: oneLine(message) };
}

function isProtobuf(headers: CallAnswer['headers']): boolean {
  return (headers['content-type'] ?? '').startsWith('application/x-protobuf');
}

/** A status with the beginning of what was answered. */
export function messageOf({ status, text, headers, bytes }: CallAnswer): string {
  const plain = oneLine(bytes !== undefined && isProtobuf(headers) ? decodeStatusMessage(bytes) : text);
  return plain === '' ? `Status ${status}.` : `Status ${status}: ${plain}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Seconds, or a date. `waitAfter` bounds it. */
export function retryAfterOf({ headers }: CallAnswer, nowMs = Date.now()): number | undefined {
  const text = headers['retry-after'];
  if (text === undefined || text === '') return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * MS_PER_S : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
