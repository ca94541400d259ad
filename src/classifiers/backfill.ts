import { randomUUID } from 'node:crypto';
import type { AdmitKey } from '../accounts/keys/authenticate.ts';
import type { Principal } from '../accounts/principal.ts';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { Catalog } from '../catalog/model.ts';
import type { JobKind, JobOutcome, JobRun } from '../jobs/contract.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { nanoFromUsd } from '../lib/money.ts';
import type { ClassifierRow } from '../resources/classifiers.ts';
import type { ClassifierStore } from '../store/classifiers/classifiers.ts';
import type { KeptGenerations, KeptPlace, KeptSearch } from '../store/classifiers/kept-generations.ts';
import type { GenerationRow } from '../store/generations/columns.ts';
import type { Job } from '../store/jobs/columns.ts';
import { isSampled } from '../telemetry/is-sampled.ts';
import { classify, type ClassifyDeps } from './classify.ts';
import { payerOf } from './payer.ts';
import { canRead } from './content-rules.ts';
import { isModel, modelsOf } from './intake.ts';
import { readConversation, type KeptDeps } from './kept-conversation.ts';

export type { Job };

/** The kind of job that sorts conversations which were kept earlier. Its subject is the classifier. */
export const BACKFILL = 'classify_backfill';

/** What a backfill reads, and how far it is. Its job keeps it as JSON. */
export interface Backfill {
  readonly version: number;
  /** A half-open range, Unix ms. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly samplingPpm: number;
  readonly maxCostNanoUsd: number;
  /** Conversations of the range that were kept and had no tag when it began. */
  readonly total: number;
  readonly after: KeptPlace | undefined;
  /** Looked at; of these: given tags; without a valid reply; left out by filters, the sample, or what may not be read. */
  readonly read: number;
  readonly classified: number;
  readonly failed: number;
  readonly skipped: number;
  readonly costNanoUsd: number;
}

export interface BackfillInput {
  readonly fromMs: number;
  readonly toMs: number;
  readonly maxCostUsd: number;
  /** Absent: the classifier's. */
  readonly samplingPpm: number | undefined;
}

export interface BackfillDeps extends ClassifyDeps, KeptDeps {
  readonly store: Pick<ClassifierStore, 'find' | 'addTags'>;
  readonly kept: KeptGenerations;
  readonly admitKey: AdmitKey;
  readonly catalog: Catalog;
  /** Settles when a read sees all that was written before. */
  readonly waitForRecords: () => Promise<void>;
}

const PAGE = 50;
/** Calls side by side. Each may cost its share of what is left, so that together they keep to the cap. */
const CALLS_AT_ONCE = 4;
/** A model that does not work is not called for every conversation. */
const FAILURES_IN_A_ROW_MAX = 20;
const RETRY_DELAYS_MS = [1_000, 10_000, 60_000];
const RUNS_AT_ONCE_MAX = 2;

/** @throws GatewayError 409 where one of the classifier is not over */
export async function beginBackfill(
  { jobs, kept }: { readonly jobs: Jobs; readonly kept: KeptGenerations },
  classifier: ClassifierRow,
  { fromMs, toMs, maxCostUsd, samplingPpm = classifier.samplingPpm }: BackfillInput,
): Promise<Job> {
  if (!(fromMs < toMs)) throw invalid('end', 'must be after start');
  const open = (await jobs.ofSubject(BACKFILL, classifier.id)).find(({ finishedAtMs }) => finishedAtMs === null);
  if (open !== undefined)
    throw new GatewayError('invalid_request', 'A backfill of the classifier is under way: wait for it, or cancel it.', {
      status: 409,
      metadata: { reason: 'under_way', backfill_id: open.id },
    });
  const { version } = classifier;
  const total = await kept.count(searchOf(classifier, { fromMs, toMs, version }));
  const begun: Backfill = {
    version,
    fromMs,
    toMs,
    samplingPpm,
    total,
    maxCostNanoUsd: nanoFromUsd(maxCostUsd),
    after: undefined,
    read: 0,
    classified: 0,
    failed: 0,
    skipped: 0,
    costNanoUsd: 0,
  };
  const id = randomUUID();
  const added = await jobs.add({ kind: BACKFILL, subjectId: classifier.id, id, checkpoint: checkpointOf(begun) });
  const job = added === 'full' ? undefined : await jobs.find(id);
  if (job === undefined) throw new GatewayError('provider_overloaded', 'Too many jobs wait. Try again later.');
  return job;
}

export function createBackfillKind(deps: BackfillDeps): JobKind {
  return { kind: BACKFILL, retryDelaysMs: RETRY_DELAYS_MS, runsMax: RUNS_AT_ONCE_MAX, run: (run) => work(deps, run) };
}

async function work(deps: BackfillDeps, { job, signal, save }: JobRun): Promise<JobOutcome> {
  const { store, kept, admitKey, waitForRecords } = deps;
  // What calls cost whose process ended before their place was stored.
  await waitForRecords();
  let state: Backfill = { ...readBackfill(job.checkpoint), costNanoUsd: await kept.spent(job.id) };
  let failuresInARow = 0;
  const end = (error: string): JobOutcome => ({ state: 'failed', error, checkpoint: checkpointOf(state) });
  for (;;) {
    const classifier = await store.find(job.subjectId);
    if (classifier === undefined) return end('classifier_gone');
    if (classifier.version !== state.version) return end('classifier_changed');
    const payer = await payerOf(admitKey, classifier);
    if (payer === undefined) return end('payer_gone');
    const rows = await kept.page(searchOf(classifier, state), state.after, PAGE);
    if (rows.length === 0) return { state: 'done', checkpoint: checkpointOf(state) };
    for (let at = 0; at < rows.length; at += CALLS_AT_ONCE) {
      signal.throwIfAborted();
      const some = rows.slice(at, at + CALLS_AT_ONCE);
      const budgetNanoUsd = Math.floor((state.maxCostNanoUsd - state.costNanoUsd) / some.length);
      const sorted = await Promise.all(
        some.map((row) => sortOne(deps, { job, classifier, payer, row, budgetNanoUsd, signal }, state)),
      );
      state = add(state, some, sorted);
      // Those of the others have their tags, and are not read again by the next one.
      if (sorted.some((one) => one.outcome === 'unpaid')) return end('cost_limit');
      for (const { outcome } of sorted)
        if (outcome !== 'skipped') failuresInARow = outcome === 'failed' ? failuresInARow + 1 : 0;
      if (failuresInARow >= FAILURES_IN_A_ROW_MAX) return end('too_many_failures');
      await save(checkpointOf(state));
    }
  }
}

interface One {
  readonly job: Job;
  readonly classifier: ClassifierRow;
  readonly payer: Principal;
  readonly row: GenerationRow;
  readonly budgetNanoUsd: number;
  readonly signal: AbortSignal;
}

interface Sorted {
  readonly outcome: 'classified' | 'failed' | 'skipped' | 'unpaid';
  readonly costNanoUsd: number;
}

const SKIPPED: Sorted = { outcome: 'skipped', costNanoUsd: 0 };

async function sortOne(
  deps: BackfillDeps,
  { job, classifier, payer, row, budgetNanoUsd, signal }: One,
  { samplingPpm }: Backfill,
): Promise<Sorted> {
  const { filters, version, id: classifierId } = classifier;
  if (!isSampled(row.sessionId ?? row.id, samplingPpm) || !fits(filters, row)) return SKIPPED;
  const conversation = await readConversation(deps, row);
  if (conversation === undefined || conversation.turns < (filters?.min_turns ?? 1)) return SKIPPED;
  const { rules, transcript } = conversation;
  if (!modelsOf(deps.catalog, classifier.model).some((model) => canRead(model, rules))) return SKIPPED;
  const call = { classifier, payer, transcript, rules, budgetNanoUsd, signal, requestId: job.id };
  const { tags, costNanoUsd, isUnpaid } = await classify(deps, call);
  // A call that was broken off is made again: its failure is not the model's.
  signal.throwIfAborted();
  if (isUnpaid === true) return { outcome: 'unpaid', costNanoUsd };
  if (tags === undefined) return { outcome: 'failed', costNanoUsd };
  const of = { classifierId, generationId: row.id, version, createdAtMs: row.createdAtMs };
  await deps.store.addTags([...tags].map(([dimension, value]) => ({ ...of, dimension, value })));
  return { outcome: 'classified', costNanoUsd };
}

function fits(filters: ClassifierRow['filters'], { keyHash, model, finishReason }: GenerationRow): boolean {
  const { api_key_hashes: keys, models, finish_reasons: reasons } = filters ?? {};
  return (
    keys?.includes(keyHash) !== false &&
    models?.some((name) => isModel(name, model)) !== false &&
    (reasons === undefined || (finishReason !== null && reasons.includes(finishReason)))
  );
}

function add(state: Backfill, rows: readonly GenerationRow[], sorted: readonly Sorted[]): Backfill {
  const count = (outcome: Sorted['outcome']): number => sorted.filter((one) => one.outcome === outcome).length;
  const last = rows.at(-1);
  return {
    ...state,
    after: last === undefined ? state.after : { createdAtMs: last.createdAtMs, id: last.id },
    read: state.read + sorted.length - count('unpaid'),
    classified: state.classified + count('classified'),
    failed: state.failed + count('failed'),
    skipped: state.skipped + count('skipped'),
    costNanoUsd: state.costNanoUsd + sorted.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0),
  };
}

function searchOf(
  { workspaceId, id }: ClassifierRow,
  { fromMs, toMs, version }: Pick<Backfill, 'fromMs' | 'toMs' | 'version'>,
): KeptSearch {
  return { workspaceId, fromMs, toMs, classifierId: id, version };
}

function checkpointOf({ after, ...numbers }: Backfill): JsonObject {
  return { ...numbers, ...(after !== undefined && { after: { ...after } }) };
}

export function readBackfill(stored: JsonObject): Backfill {
  const number = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  const { after } = stored;
  return {
    version: number(stored['version']),
    fromMs: number(stored['fromMs']),
    toMs: number(stored['toMs']),
    samplingPpm: number(stored['samplingPpm']),
    maxCostNanoUsd: number(stored['maxCostNanoUsd']),
    total: number(stored['total']),
    after: isJsonObject(after) ? { createdAtMs: number(after['createdAtMs']), id: text(after['id']) } : undefined,
    read: number(stored['read']),
    classified: number(stored['classified']),
    failed: number(stored['failed']),
    skipped: number(stored['skipped']),
    costNanoUsd: number(stored['costNanoUsd']),
  };
}
