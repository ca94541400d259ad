import type { AdmitKey } from '../accounts/keys/authenticate.ts';
import type { JobKind, JobOutcome, JobRun } from '../jobs/contract.ts';
import { SecretBoxError, type SecretBox } from '../lib/secret-box.ts';
import type { ClassifierRow } from '../resources/classifiers.ts';
import type { ClassifierStore } from '../store/classifiers/classifiers.ts';
import { classify, type ClassifyDeps } from './classify.ts';
import { payerOf } from './payer.ts';
import { CLASSIFY, purposeOf, readTask, type ClassifyTask } from './job.ts';

export interface ClassifyKindDeps extends ClassifyDeps {
  readonly store: Pick<ClassifierStore, 'find' | 'today' | 'count' | 'addTags'>;
  readonly admitKey: AdmitKey;
  readonly box: () => Promise<SecretBox>;
  /** The cost limit of a day is reached: by a call, or for each conversation that is left out. */
  readonly onLimit: (classifier: ClassifierRow) => void;
  /** For tests. */
  readonly retryMs?: number | undefined;
}

/** A conversation that nothing has read within this time is forgotten. @spec classifier-6 */
const TRANSCRIPT_MS = 3_600_000;
const RETRY_MS = 60_000;
const RUNS = 2;
/** Nothing of the conversation stays. */
const EMPTY = {};

/** Sorts one generation, once more after a failure, and never for longer than a conversation may be kept. */
export function createClassifyKind(deps: ClassifyKindDeps): JobKind {
  return {
    kind: CLASSIFY,
    retryDelaysMs: [RETRY_MS],
    keepMs: TRANSCRIPT_MS,
    async run(run) {
      const task = readTask(run.job.checkpoint);
      return task === undefined ? DONE : sort(deps, run, task);
    },
  };
}

const DONE: JobOutcome = { state: 'done', checkpoint: EMPTY };

function given(error: string): JobOutcome {
  return { state: 'failed', error, checkpoint: EMPTY };
}

async function sort(deps: ClassifyKindDeps, { job, signal }: JobRun, task: ClassifyTask): Promise<JobOutcome> {
  const { store, admitKey, clock } = deps;
  const classifier = await store.find(job.subjectId);
  // Its tags would be of a version that is not in use any more.
  if (classifier === undefined || !classifier.enabled || classifier.version !== task.version) return DONE;
  const { id } = classifier;
  const nowMs = clock.nowMs();
  if (nowMs - task.addedAtMs > TRANSCRIPT_MS) {
    await store.count(id, nowMs, { dropped: 1 });
    return given('expired');
  }
  const spent = (await store.today([id], nowMs)).get(id)?.costNanoUsd ?? 0;
  const budgetNanoUsd = classifier.dailyCostLimitNanoUsd - spent;
  if (budgetNanoUsd <= 0) {
    await store.count(id, nowMs, { dropped: 1 });
    deps.onLimit(classifier);
    return given('cost_limit');
  }
  const payer = await payerOf(admitKey, classifier);
  const transcript = await openTranscript(deps, task);
  if (payer === undefined || transcript === undefined) {
    await store.count(id, nowMs, { failed: 1 });
    return given(payer === undefined ? 'payer_gone' : 'unreadable');
  }
  const { tags, error, costNanoUsd, isUnpaid, isOverLimit } = await classify(deps, {
    classifier,
    payer,
    transcript,
    rules: task.rules,
    budgetNanoUsd,
    signal,
  });
  if (isOverLimit === true || costNanoUsd >= budgetNanoUsd) deps.onLimit(classifier);
  if (isUnpaid === true) {
    await store.count(id, nowMs, { costNanoUsd, dropped: 1 });
    return given(error ?? 'cost_limit');
  }
  const isLast = job.attempt >= RUNS;
  const isFailed = tags === undefined;
  await store.count(id, nowMs, { costNanoUsd, ...(isFailed ? isLast && { failed: 1 } : { classified: 1 }) });
  if (isFailed) {
    const reason = error ?? 'no tags';
    return isLast ? given(reason) : { state: 'again', afterMs: deps.retryMs ?? RETRY_MS, error: reason };
  }
  const { generationId, version, createdAtMs } = task;
  await store.addTags(
    [...tags].map(([dimension, value]) => ({ classifierId: id, generationId, version, dimension, value, createdAtMs })),
  );
  return DONE;
}

/** `undefined`: the secret that sealed it is gone. */
async function openTranscript(
  { box }: Pick<ClassifyKindDeps, 'box'>,
  { sealed, generationId }: ClassifyTask,
): Promise<string | undefined> {
  try {
    return (await box()).open(sealed, purposeOf(generationId));
  } catch (error) {
    if (error instanceof SecretBoxError) return undefined;
    throw error;
  }
}
