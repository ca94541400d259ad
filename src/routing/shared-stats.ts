import { parseJson } from '../lib/json.ts';
import type { InvalidationBus } from '../state/contract.ts';
import type { EndpointStats, FinishedAnswer } from './stats.ts';

export interface SharedStatsDeps {
  readonly stats: EndpointStats;
  readonly invalidations: InvalidationBus;
  /** Default: a second. */
  readonly reportEveryMs?: number;
}

const TOPIC = 'answers';
const REPORT_EVERY_MS = 1_000;
/** Answers in one message. The rest is dropped: percentiles need a sample of the answers, and each process also has its own. */
const ANSWERS_MAX = 200;

/** One answer as it is sent. */
type Sent = readonly [
  endpoint: string,
  firstTokenMs: number,
  totalMs: number,
  outputTokens: number,
  toolCalls: FinishedAnswer['toolCalls'] | null,
];

/**
 * Statistics that also have the answers of other processes, and publish their own. Successes and failures are not among
 * them: they come with the health of endpoints.
 */
export function shareStats({ stats, invalidations, reportEveryMs = REPORT_EVERY_MS }: SharedStatsDeps): EndpointStats {
  let answers: Sent[] = [];
  let timer: NodeJS.Timeout | undefined;

  function notify(): void {
    timer = undefined;
    invalidations.announce(TOPIC, JSON.stringify(answers));
    answers = [];
  }

  invalidations.subscribe(TOPIC, (message) => {
    for (const [endpoint, answer] of readAnswers(message)) stats.finished(endpoint, answer);
  });

  return {
    counted: (endpoint, isOk) => stats.counted(endpoint, isOk),
    typicalTokens: (endpoint) => stats.typicalTokens(endpoint),
    listed: (endpoint) => stats.listed(endpoint),
    routing: (endpoint) => stats.routing(endpoint),
    finished(endpoint, answer) {
      stats.finished(endpoint, answer);
      if (answers.length >= ANSWERS_MAX) return;
      const { firstTokenMs, totalMs, outputTokens, toolCalls = null } = answer;
      answers.push([endpoint, firstTokenMs, totalMs, outputTokens, toolCalls]);
      timer ??= setTimeout(notify, reportEveryMs).unref();
    },
  };
}

/** What another process measured, which may be of another version: what cannot be read is left out. */
function readAnswers(message: string): readonly (readonly [endpoint: string, answer: FinishedAnswer])[] {
  const sent: unknown = parseJson(message);
  return Array.isArray(sent) ? sent.flatMap(readAnswer) : [];
}

function readAnswer(sent: unknown): readonly (readonly [endpoint: string, answer: FinishedAnswer])[] {
  if (!Array.isArray(sent)) return [];
  const [endpoint, firstTokenMs, totalMs, outputTokens, toolCalls]: readonly unknown[] = sent;
  if (typeof endpoint !== 'string' || !isAmount(firstTokenMs) || !isAmount(totalMs) || !isAmount(outputTokens))
    return [];
  const answer = { firstTokenMs, totalMs, outputTokens };
  if (toolCalls === 'valid' || toolCalls === 'broken') return [[endpoint, { ...answer, toolCalls }]];
  return toolCalls === null ? [[endpoint, answer]] : [];
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
