import { destination, pino, stdTimeFunctions, type Logger } from 'pino';
import { statusOf } from './generation-row.ts';
import type { GenerationRecord } from './record.ts';

export type { Logger };

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

/** Structured logs on standard error, so that standard output holds only what the CLI prints. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
    },
    // Buffered: a write a line would cost a system call in the path of every request.
    destination({ fd: 2, sync: false, minLength: 4_096, periodicFlush: 1_000 }),
  );
}

/** One line a generation, without a word of the conversation. */
export function logGeneration(log: Logger, record: GenerationRecord): void {
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
  if (status >= 500) log.warn(line, 'generation failed');
  else log.info(line, 'generation');
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
