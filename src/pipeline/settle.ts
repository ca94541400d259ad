import type { Hold, Ledger } from '../accounts/ledger.ts';
import type { Spent } from '../accounts/spend-limit.ts';
import { estimateAnswerTokens, estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import { NO_USAGE, type Usage } from '../canonical/usage.ts';
import { costOf, type Cost, type PriceMoment, type PriceTable } from '../catalog/price.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { Closing } from '../wire/format.ts';
import { drawServiceMetadata } from '../wire/gateway/service-metadata.ts';
import { countPromptImages } from './prompt-images.ts';

export interface SettleParts {
  /** Stores the record; settles when it is durable, and within a bound when the disk is slow. Never rejects. */
  readonly store: (record: GenerationRecord) => Promise<void>;
  readonly ledger: Pick<Ledger, 'settle'>;
  /** Tells logs and metrics. Never throws. */
  readonly observe: (record: GenerationRecord) => void;
}

export interface Settle {
  /**
   * Fixes usage and cost, stores the record, and then frees what was held for it. Idempotent: the second call waits for
   * the first.
   */
  (record: GenerationRecord, hold: Hold | undefined): Promise<void>;
}

/**
 * Ends a generation's account, once, whatever path it took. Neither a generator's `finally` nor an abort signal may
 * come between the charge and the disk (docs/tour.md, 11 and 12).
 */
export function createSettle(parts: SettleParts): Settle {
  const settled = new WeakMap<GenerationRecord, Promise<void>>();
  return (record, hold) => {
    const before = settled.get(record);
    if (before !== undefined) return before;
    record.finish();
    record.usage = finalUsage(record);
    record.cost = finalCost(record);
    parts.observe(record);
    const stored = parts.store(record);
    // Freed before the caller sees the end, so that whoever asks again at once finds it so.
    const ended = hold === undefined ? stored : stored.then(() => parts.ledger.settle(hold, chargeOf(record)));
    settled.set(record, ended);
    return ended;
  };
}

/** Who pays: the account, or the caller's own credential, whose use counts at list price. */
function chargeOf({ cost, report }: GenerationRecord): Spent {
  const nanoUsd = cost?.totalNanoUsd ?? 0;
  return report.isByok ? { ownNanoUsd: 0, byokNanoUsd: nanoUsd } : { ownNanoUsd: nanoUsd, byokNanoUsd: 0 };
}

/** What the answer's end tells the caller. Only after `settle`. */
export function closingOf(record: GenerationRecord, region: string): Closing {
  return {
    usage: record.usage ?? NO_USAGE,
    charge: record.cost,
    isByok: record.report.isByok,
    serviceMetadata: metadataOf(record, region),
  };
}

export function metadataOf(record: GenerationRecord, region: string): Closing['serviceMetadata'] {
  const { report } = record;
  return record.request.directives.serviceMetadata && report.routed ? drawServiceMetadata(report, region) : undefined;
}

/** The upstream's count where it came to its end, else the larger of that and our estimate. @source decisions.md 21 */
function finalUsage(record: GenerationRecord): Usage | undefined {
  const { usage, end } = record;
  if (record.endpoint === undefined) return usage;
  if (usage !== undefined && end !== undefined) return usage;
  const reported = usage ?? NO_USAGE;
  return {
    ...reported,
    promptTokens: Math.max(reported.promptTokens, usage === undefined ? estimateRequestTokens(record.request) : 0),
    completionTokens: Math.max(reported.completionTokens, estimateAnswerTokens(record.answerChars)),
    estimated: true,
  };
}

/** Pictures are counted only for those who are paid by the piece. */
function momentOf(price: PriceTable, { createdMs, request }: GenerationRecord): PriceMoment {
  if (price.image === undefined) return { atMs: createdMs };
  return { atMs: createdMs, promptImages: countPromptImages(request) };
}

/**
 * Nothing is owed for an answer that an error ended, nor for one that said nothing and did not end.
 * @source generation.md 8.6
 */
function finalCost(record: GenerationRecord): Cost | undefined {
  const { endpoint, usage, end } = record;
  const free = { totalNanoUsd: 0, promptNanoUsd: 0, completionNanoUsd: 0 };
  if (endpoint === undefined || usage === undefined) return free;
  const broken = end?.finish === 'error' || (end === undefined && !record.cancelled);
  const silent = end === undefined && usage.completionTokens === 0;
  if (broken || silent) return free;
  return endpoint.price === undefined ? undefined : costOf(endpoint.price, usage, momentOf(endpoint.price, record));
}
