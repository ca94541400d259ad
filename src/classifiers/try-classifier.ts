import type { AdmitKey } from '../accounts/keys/authenticate.ts';
import type { Principal } from '../accounts/principal.ts';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { Catalog } from '../catalog/model.ts';
import type { Clock } from '../lib/clock.ts';
import type { ClassifierRow } from '../resources/classifiers.ts';
import type { ClassifierStore } from '../store/classifiers/classifiers.ts';
import type { GenerationRow } from '../store/generations/columns.ts';
import { classify, type ClassifyDeps } from './classify.ts';
import { payerOf } from './payer.ts';
import { canRead, NO_RULES, type ContentRules } from './content-rules.ts';
import { modelsOf } from './intake.ts';
import { readConversation, type KeptDeps } from './kept-conversation.ts';

/** What a classifier says of one conversation, which is not stored. */
export interface Trial {
  /** Null: a text. */
  readonly generationId: string | null;
  /** What its model was sent; null: nothing was. */
  readonly transcript: string | null;
  /** By dimension; null: none were given. */
  readonly tags: Readonly<Record<string, string>> | null;
  readonly error: string | null;
  readonly costNanoUsd: number;
}

export type TrialInput = { readonly text: string } | { readonly generationIds: readonly string[] };

export interface TrialDeps extends ClassifyDeps, KeptDeps {
  readonly store: Pick<ClassifierStore, 'today' | 'count'>;
  readonly findGeneration: (id: string) => Promise<GenerationRow | undefined>;
  readonly admitKey: AdmitKey;
  readonly catalog: Catalog;
  readonly clock: Clock;
}

const CALLS_AT_ONCE = 4;
/** Trials of one classifier, beside the one that runs. */
const WAITING_MAX = 16;
const RETRY_MS = 5_000;

export type TryClassifier = (
  classifier: ClassifierRow,
  input: TrialInput,
  signal: AbortSignal,
) => Promise<readonly Trial[]>;

/** One after the other for a classifier: what is left of its limit is for one of them. @throws GatewayError 429 */
export function createTryClassifier(deps: TrialDeps): TryClassifier {
  const queues = new Map<string, { waiting: number; last: Promise<unknown> }>();
  return async (classifier, input, signal) => {
    const { id } = classifier;
    const queue = queues.get(id) ?? { waiting: 0, last: Promise.resolve() };
    if (queue.waiting > WAITING_MAX)
      throw new GatewayError('rate_limit_exceeded', `${WAITING_MAX} trials of this classifier wait. Try again later.`, {
        retryAfterMs: RETRY_MS,
      });
    queues.set(id, queue);
    queue.waiting++;
    const own = queue.last.then(() => tryClassifier(deps, classifier, input, signal));
    queue.last = own.catch(() => undefined);
    try {
      return await own;
    } finally {
      if (--queue.waiting === 0) queues.delete(id);
    }
  };
}

/**
 * Sorts conversations for its payer, within what is left of the cost limit of the day, and stores no tag.
 * @throws GatewayError 400 where the payer is gone
 */
async function tryClassifier(
  deps: TrialDeps,
  classifier: ClassifierRow,
  input: TrialInput,
  signal: AbortSignal,
): Promise<readonly Trial[]> {
  const { store, admitKey, clock } = deps;
  const payer = await payerOf(admitKey, classifier);
  if (payer === undefined) throw invalid('payer_key_hash', 'is not the hash of a key that may pay any more');
  const { id } = classifier;
  const texts = 'text' in input ? [input.text] : input.generationIds;
  const trials: Trial[] = [];
  for (let at = 0; at < texts.length; at += CALLS_AT_ONCE) {
    const some = texts.slice(at, at + CALLS_AT_ONCE);
    const nowMs = clock.nowMs();
    const spent = (await store.today([id], nowMs)).get(id)?.costNanoUsd ?? 0;
    const leftNanoUsd = Math.max(0, classifier.dailyCostLimitNanoUsd - spent);
    const given = { classifier, payer, budgetNanoUsd: Math.floor(leftNanoUsd / some.length), signal };
    const made = await Promise.all(
      some.map((text) => ('text' in input ? tryText(deps, given, text) : tryGeneration(deps, given, text))),
    );
    trials.push(...made);
    // At once: what comes next may fail.
    const costNanoUsd = made.reduce((sum, trial) => sum + trial.costNanoUsd, 0);
    if (costNanoUsd > 0) await store.count(id, nowMs, { costNanoUsd });
  }
  return trials;
}

interface Given {
  readonly classifier: ClassifierRow;
  readonly payer: Principal;
  readonly budgetNanoUsd: number;
  readonly signal: AbortSignal;
}

/** A text of the operator: no request has rules for it. */
async function tryText(deps: TrialDeps, given: Given, text: string): Promise<Trial> {
  return { generationId: null, ...(await tryTranscript(deps, given, `USER: ${text}`, NO_RULES)) };
}

async function tryGeneration(deps: TrialDeps, given: Given, generationId: string): Promise<Trial> {
  const failed = (error: string): Trial => ({ generationId, transcript: null, tags: null, error, costNanoUsd: 0 });
  const row = await deps.findGeneration(generationId);
  if (row === undefined || row.workspaceId !== given.classifier.workspaceId)
    return failed('The workspace has no such generation.');
  const conversation = await readConversation(deps, row);
  if (conversation === undefined) return failed('Its content was not kept.');
  const { transcript, rules } = conversation;
  if (!modelsOf(deps.catalog, given.classifier.model).some((model) => canRead(model, rules)))
    return failed('What its request, its key or its workspace demands of endpoints, none of the model promises.');
  return { generationId, ...(await tryTranscript(deps, given, transcript, rules)) };
}

async function tryTranscript(
  deps: TrialDeps,
  given: Given,
  transcript: string,
  rules: ContentRules,
): Promise<Omit<Trial, 'generationId'>> {
  const { tags, error, costNanoUsd } = await classify(deps, { ...given, transcript, rules });
  return { transcript, tags: tags === undefined ? null : Object.fromEntries(tags), error: error ?? null, costNanoUsd };
}
