import type { Principal } from '../accounts/principal.ts';
import type { InnerGenerate } from '../canonical/inner-generation.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { BytesTaken } from '../lib/byte-budget.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { ClientFormat } from '../wire/format.ts';
import type { Caller } from './caller.ts';
import { readCallerRules, type RulesParts } from './caller-rules.ts';
import { createInnerGenerate, type Inside } from './inner-generation.ts';
import { createInspection, type Inspection, type InspectParts } from './inspect.ts';
import { openAnswer, type AnswerContext, type AnswerParts, type Serving } from './open-answer.ts';
import { prepare, type PrepareParts } from './prepare.ts';
import { refuseForbidden } from './refuse-forbidden.ts';
import { relayStream, relayWhole } from './relay.ts';
import {
  asGatewayError,
  errorContext,
  limitTime,
  noteHangUp,
  openOutput,
  openRecord,
  refuse,
  type FrameParts,
} from './request-frame.ts';
import { lookUpAnswer, type CacheHit, type ResponseCacheParts } from './response-cache.ts';
import { closingOf } from './settle.ts';
import type { StreamOutput } from './stream-output.ts';
import { takeInFiles, type TakeInParts } from './take-in-files.ts';
import { Till, type TillParts } from './till.ts';

export interface GenerateParts
  extends
    FrameParts,
    TillParts,
    Omit<RulesParts, 'ledger'>,
    InspectParts,
    Omit<PrepareParts, 'memory' | 'formats'>,
    AnswerParts,
    TakeInParts {
  readonly responseCache: ResponseCacheParts;
  readonly totalMs: number;
  readonly streams: { streamOpened(): void; streamClosed(): void };
  /** Keeps what answers say, where somebody wants that. Absent: nobody does. */
  readonly openCapture?: (record: GenerationRecord) => GenerationRecord['capture'];
}

/** One request, decoded and admitted. */
export interface Asked {
  readonly id: string;
  readonly request: GenerationRequest;
  readonly asker: Principal;
  /** Monotonic ms. */
  readonly arrivedMs: number;
  /** Set where it serves another request. */
  readonly inside?: Inside;
}

/** Answers the caller in every case, and returns when the answer has been handed over and accounted for. */
export type Generate = (asked: Asked, format: ClientFormat, caller: Caller) => Promise<void>;

/** A request from its arrival to its account, whatever becomes of it. */
export function createGenerate(parts: GenerateParts): Generate {
  const { streams, clock } = parts;
  const generate: Generate = async (asked, format, caller) => {
    const record = openRecord(asked, parts);
    record.capture = parts.openCapture?.(record);
    const limit = limitTime(caller, parts.totalMs);
    const { signal } = limit;
    const output = record.request.delivery === 'stream' ? openOutput(record, format, caller, signal, parts) : undefined;
    if (output !== undefined) streams.streamOpened();
    const till = new Till(parts, asked.asker, record);
    let settled: Promise<void> | undefined;
    const settle = (): Promise<void> => {
      if (settled === undefined) noteHangUp(record, signal);
      return (settled ??= till.settle());
    };
    const context: AnswerContext = {
      format,
      caller,
      record,
      settle: () => {
        const durable = settle();
        return { durable, closing: closingOf(record, parts.region) };
      },
      errorContext: () => errorContext(record, parts),
    };
    const underWay = new Set<Promise<unknown>>();
    const inner = createInnerGenerate({ generate, clock }, asked, { record, format, signal, underWay });
    const serving: Serving = {};
    try {
      await serve(parts, { asked, context, output, till, signal, inner }, serving);
    } catch (error) {
      // Whatever failed, an upstream that still sends must not send to nobody.
      limit.abort();
      record.error = asGatewayError(error, record, parts);
      await settle();
      refuse(record.error, output, context);
    } finally {
      limit.stop();
      serving.turns?.close();
      serving.files?.shrink(0);
      output?.stop();
      if (output !== undefined) streams.streamClosed();
      await settle();
      serving.outcome?.ended(record);
      // Nobody waits for them any more, and each has a charge of its own to settle.
      if (underWay.size > 0) {
        limit.abort();
        await Promise.allSettled(underWay);
      }
      asked.inside?.ended(closingOf(record, parts.region));
    }
  };
  return generate;
}

interface ServeQuestion {
  readonly asked: Asked;
  readonly context: AnswerContext;
  /** Absent: the caller gets the whole answer at once. */
  readonly output: StreamOutput | undefined;
  readonly till: Till;
  /** Aborts when nobody waits for the answer any more, or it took too long. */
  readonly signal: AbortSignal;
  /** Asks a model inside this request. */
  readonly inner: InnerGenerate;
}

/**
 * What happens to a request, from top to bottom.
 * @param serving is filled as the parts of the answer open
 * @throws GatewayError what the caller is to be told in place of an answer
 */
async function serve(parts: GenerateParts, question: ServeQuestion, serving: Serving): Promise<void> {
  const { asked, context, output, till, signal } = question;
  const { record, caller } = context;
  const { asker, inside } = asked;
  const rules = await readCallerRules(parts, asker);
  await parts.ledger.admit(asker, rules.limits);
  const onTaken = (taken: BytesTaken): void => void (serving.files = taken);
  record.request = await takeInFiles(parts, record.request, { owner: asker, signal, onTaken });
  const onBlocked = async (): Promise<void> => {
    await refuseForbidden(parts, record, rules);
    await till.pass(NOTHING_ASKED);
  };
  const inspection = createInspection(parts, { record, policy: rules.policy, signal, onBlocked });
  if (inspection !== undefined) record.request = await inspection.request(record.request);
  const cached = await lookUpAnswer(parts.responseCache, record, rules);
  if (cached !== undefined) caller.announce(cached.headers);
  if (cached?.hit !== undefined) {
    await till.pass(NOTHING_ASKED);
    await repeat(cached.hit, inspection, output, context);
    return;
  }
  const prepared = await prepare(parts, { ...question, rules, inside, inspection });
  const answer = await openAnswer(parts, { ...question, prepared, rules, inspection }, serving);
  const relayed = { ...context, revisers: prepared.revision.revisers, keeper: cached?.keeper };
  await (output === undefined ? relayWhole(answer, relayed) : relayStream(answer, output, relayed));
  cached?.keep(record);
}

/** An answer that is given again costs and counts nothing, but it is a request. */
const NOTHING_ASKED = { promptTokens: () => 1, isFree: false } as const;

async function repeat(
  { sourceId, endpoint, committed }: CacheHit,
  inspection: Inspection | undefined,
  output: StreamOutput | undefined,
  context: AnswerContext,
): Promise<void> {
  context.record.repeat(sourceId, endpoint);
  const relayed = { ...context, revisers: [] };
  const answer = inspection === undefined ? committed : await inspection.answer(committed);
  await (output === undefined ? relayWhole(answer, relayed) : relayStream(answer, output, relayed));
}
