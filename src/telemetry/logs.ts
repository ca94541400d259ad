import { pino, type Logger } from 'pino';
import { apiTypeOf } from '../canonical/operation.ts';
import { statusOf } from './generation-row.ts';
import { createLogSink, type LogSink } from './log-sink.ts';
import { formatPretty } from './pretty-line.ts';
import type { GenerationRecord } from './record.ts';
import type { ServerToolUse } from './request-log.ts';
import { REDACTED_TEXT } from '../lib/text/redact-secrets.ts';
import { systemClock } from '../lib/clock.ts';

/** Places of secrets, in case a whole request is logged; the sink removes them. */
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

const STANDARD_ERROR = 2;

export type LogFormat = 'json' | 'pretty';

/** The operator's log. */
export interface Log {
  /** For everything but generations. Takes out what looks like a secret. */
  readonly general: Logger;
  /** For `logGeneration` only, whose line is made of named facts: searching it for secrets cost more than writing it. */
  readonly generations: FactLog;
  /** Writes what waits, once nothing more is to be logged. */
  flush(): void;
}

/** The part of a logger that lines of named facts need, each of at least one. */
export interface FactLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/**
 * Structured logs on standard error, so that standard output holds only what the CLI prints.
 * @param format `pretty`: lines for people instead of JSON
 * @param worker stands in each line of a worker process: its number
 */
export function createLog(level: string, format: LogFormat = 'json', worker?: number): Log {
  const plain = createLogSink(STANDARD_ERROR);
  const sink: LogSink = format === 'json' ? plain : { ...plain, write: (line) => plain.write(formatPretty(line)) };
  // Whatever ends the process, its last words are the ones that matter.
  if (level !== 'silent') process.once('exit', sink.finish);
  const base = worker === undefined ? null : { worker };
  const general = pino({ level, base, redact: { paths: REDACTED_PATHS, censor: REDACTED_TEXT } }, sink);
  return {
    general,
    generations: createFactLog(general, sink, worker),
    flush() {
      process.off('exit', sink.finish);
      sink.finish();
    },
  };
}

/**
 * Formats lines like the logger's, in one call of `JSON.stringify`: half the cost, and there is one for every request.
 * @param worker the number of the worker process; absent: this is none
 */
export function createFactLog(logger: Logger, sink: Pick<LogSink, 'write'>, worker?: number): FactLog {
  const own = worker === undefined ? '' : `"worker":${worker},`;
  const at = (level: 'info' | 'warn'): FactLog['info'] => {
    const head = `{"level":${logger.levels.values[level]},"time":`;
    return (facts, message) => {
      if (!logger.isLevelEnabled(level)) return;
      const members = JSON.stringify(facts).slice(1, -1);
      sink.write(`${head}${systemClock.nowMs()},${own}${members},"msg":${JSON.stringify(message)}}\n`);
    };
  };
  return { info: at('info'), warn: at('warn') };
}

/** One line a generation, without a word of the conversation. */
export function logGeneration(log: Pick<Log, 'generations'>, record: GenerationRecord): void {
  const status = statusOf(record);
  const { report, usage, endpoint } = record;
  const line = {
    id: record.id,
    format: apiTypeOf(record.request),
    stream: record.request.delivery === 'stream',
    key_hash: record.principal.keyHash.slice(0, 12),
    requested: report.requested,
    model: endpoint?.model,
    provider: endpoint?.provider,
    status,
    attempts: record.attempts.length,
    byok: report.isByok || undefined,
    inside: record.requestId === record.id ? undefined : record.requestId,
    server_tools: record.serverTools === undefined ? undefined : serializeTools(record.serverTools),
    rescues: record.rescues.length === 0 ? undefined : record.rescues,
    origin: record.origin,
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

function serializeTools({ turns, requested, executed, feeNanoUsd }: ServerToolUse): object {
  return { turns, requested, executed, fee_nano_usd: feeNanoUsd };
}

/** The operator's half of a failure: the upstream's own words stay here. */
function upstreamOf({ failure }: GenerationRecord): object | undefined {
  return {
    kind: failure?.kind,
    status: failure?.upstreamStatus,
    clock: failure?.clock,
    code: failure?.providerCode,
    cause: failure?.cause,
    message: failure?.upstreamMessage,
  };
}
