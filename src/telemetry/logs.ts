import { destination, pino, type Logger } from 'pino';
import { statusOf } from './generation-row.ts';
import type { GenerationRecord, ServerToolUse } from './record.ts';
import { CENSOR } from '../lib/censor-secrets.ts';

/** Places where a secret could stand if someone logged a whole request; the sink takes them out again. */
const REDACTED_PATHS = [
  'authorization',
  'apiKey',
  'api_key',
  'key',
  '*.authorization',
  '*.apiKey',
  '*.api_key',
  '*["x-api-key"]',
  'headers.authorization',
  'headers["x-api-key"]',
  'headers.cookie',
  '*.headers.authorization',
  '*.headers["x-api-key"]',
];

/** The operator's log. */
export interface Log {
  /** For everything but generations. Takes out what looks like a secret. */
  readonly general: Logger;
  /** For `logGeneration` only, whose line is made of named facts: searching it for secrets cost more than writing it. */
  readonly generations: Logger;
  flush(): void;
}

/** Structured logs on standard error, so that standard output holds only what the CLI prints. */
export function createLog(level: string): Log {
  // Buffered: each write wakes a thread, which costs as much as half a request. But the sink measures the piece that it
  // fills anew with every line, so a piece is small.
  const sink = destination({ fd: 2, sync: false, minLength: 8_192, maxWrite: 16_384, periodicFlush: 1_000 });
  const options = { level, base: null };
  return {
    general: pino({ ...options, redact: { paths: REDACTED_PATHS, censor: CENSOR } }, sink),
    generations: pino(options, sink),
    flush: () => sink.flush(),
  };
}

/** One line a generation, without a word of the conversation. */
export function logGeneration(log: Pick<Log, 'generations'>, record: GenerationRecord): void {
  const status = statusOf(record);
  const { report, usage, endpoint } = record;
  const line = {
    id: record.id,
    format: record.request.format,
    stream: record.request.delivery === 'stream',
    key_hash: record.asker.keyHash.slice(0, 12),
    requested: report.requested,
    model: endpoint?.model,
    provider: endpoint?.provider,
    status,
    attempts: record.attempts.length,
    byok: report.isByok || undefined,
    inside: record.requestId === record.id ? undefined : record.requestId,
    server_tools: record.serverTools === undefined ? undefined : drawTools(record.serverTools),
    rescues: record.rescues.length === 0 ? undefined : record.rescues,
    cancelled: record.cancelled || undefined,
    finish: record.end?.finish,
    prompt_tokens: usage?.promptTokens,
    completion_tokens: usage?.completionTokens,
    cost_nano_usd: record.cost?.totalNanoUsd,
    ms: Math.round((report.endedMs ?? report.arrivedMs) - report.arrivedMs),
    ttft_ms: record.firstTokenMs === undefined ? undefined : Math.round(record.firstTokenMs - report.arrivedMs),
    warnings: record.warnings.length === 0 ? undefined : record.warnings,
    error: record.error === undefined ? undefined : { type: record.error.type, message: record.error.message },
    upstream: record.failure === undefined ? undefined : upstreamOf(record),
  };
  if (status >= 500) log.generations.warn(line, 'generation failed');
  else log.generations.info(line, 'generation');
}

function drawTools({ turns, requested, executed, feeNanoUsd }: ServerToolUse): object {
  return { turns, requested, executed, fee_nano_usd: feeNanoUsd };
}

/** The operator's half of a failure: the upstream's own words stay here. */
function upstreamOf({ failure }: GenerationRecord): object | undefined {
  return {
    kind: failure?.kind,
    status: failure?.upstreamStatus,
    clock: failure?.clock,
    code: failure?.providerCode,
    message: failure?.upstreamMessage,
  };
}
