import type { TaskTraffic } from '../canonical/model-choice.ts';
import type { TaskTrafficGroup, TaskTrafficStore } from '../store/usage/task-traffic.ts';

/** What requests of the last seven days were about, and which models they went to. */
export interface TaskTrafficWatch {
  /** Reads the next due piece of records. `false`: none is due. The work is bounded, and no request waits for it. */
  step(nowMs: number): Promise<boolean>;
  traffic(taskType: string): TaskTraffic;
  /** USD per million prompt tokens as they were paid, caches included; `undefined`: too few requests. */
  paidPromptPrice(model: string): number | undefined;
  /** By tag and model, for classified requests. */
  groups(): readonly (TaskTrafficGroup & { readonly taskType: string })[];
}

export const TRAFFIC_DAYS = 7;
const DAY_MS = 86_400_000;
/** The oldest of what counts goes in pieces of this length. */
const BUCKET_MS = 6 * 3_600_000;
/** Records that one query sums up: ten minutes of them, or a second piece of the same. */
const SLICE_MS = 600_000;
/** By tag and model, in six hours; the smallest are left out. */
const GROUPS_MAX = 2_000;
/** With fewer requests an average price is random. @spec router-23 */
const PRICED_REQUESTS_MIN = 50;

interface Summary {
  readonly groups: ReturnType<TaskTrafficWatch['groups']>;
  readonly byTask: ReadonlyMap<string, TaskTraffic>;
  readonly paid: ReadonlyMap<string, number>;
}

const NOTHING: Summary = { groups: [], byTask: new Map(), paid: new Map() };
const NO_TRAFFIC: TaskTraffic = { requests: 0, tokens: undefined, standingOf: () => 0 };

/** @param lagMs how long after its request a record may still be stored */
export function watchTaskTraffic(store: TaskTrafficStore, lagMs: number): TaskTrafficWatch {
  /** Sums of complete slices, by the start of the piece that they are in, and in it by tag and model. */
  const buckets = new Map<number, Map<string, TaskTrafficGroup>>();
  let doneUntilMs: number | undefined;
  let summary = NOTHING;

  function forgetBefore(oldestMs: number): void {
    for (const startMs of buckets.keys()) if (startMs + BUCKET_MS <= oldestMs) buckets.delete(startMs);
  }

  return {
    async step(nowMs) {
      const endMs = nowMs - lagMs;
      const oldestMs = endMs - TRAFFIC_DAYS * DAY_MS;
      forgetBefore(oldestMs);
      const fromMs = await nextRecord(store, Math.max(doneUntilMs ?? oldestMs, oldestMs), endMs);
      if (fromMs >= endMs) {
        doneUntilMs = endMs;
        summary = summarize([...buckets.values()]);
        return false;
      }
      const bucketMs = fromMs - (fromMs % BUCKET_MS);
      // A slice lies in one piece.
      const toMs = Math.min(fromMs + SLICE_MS, bucketMs + BUCKET_MS, endMs);
      const groups = await store.read(fromMs, toMs);
      buckets.set(bucketMs, addGroups(buckets.get(bucketMs), groups));
      doneUntilMs = toMs;
      return true;
    },
    traffic: (taskType) => summary.byTask.get(taskType) ?? NO_TRAFFIC,
    paidPromptPrice: (model) => summary.paid.get(model),
    groups: () => summary.groups,
  };
}

async function nextRecord(store: TaskTrafficStore, fromMs: number, endMs: number): Promise<number> {
  if (fromMs >= endMs) return endMs;
  return Math.min((await store.firstFrom(fromMs)) ?? endMs, endMs);
}

function addGroups(
  sums: ReadonlyMap<string, TaskTrafficGroup> = new Map(),
  groups: readonly TaskTrafficGroup[],
): Map<string, TaskTrafficGroup> {
  const next = new Map(sums);
  for (const group of groups) {
    const key = `${group.taskType ?? ''} ${group.model}`;
    next.set(key, add(next.get(key), group));
  }
  if (next.size <= GROUPS_MAX) return next;
  return new Map([...next].toSorted(([, left], [, right]) => right.requests - left.requests).slice(0, GROUPS_MAX));
}

function add(sum: TaskTrafficGroup | undefined, group: TaskTrafficGroup): TaskTrafficGroup {
  if (sum === undefined) return group;
  return {
    taskType: group.taskType,
    model: group.model,
    requests: sum.requests + group.requests,
    tokensPrompt: sum.tokensPrompt + group.tokensPrompt,
    tokensCompletion: sum.tokensCompletion + group.tokensCompletion,
    costNanoUsd: sum.costNanoUsd + group.costNanoUsd,
    pricedTokensPrompt: sum.pricedTokensPrompt + group.pricedTokensPrompt,
    promptNanoUsd: sum.promptNanoUsd + group.promptNanoUsd,
  };
}

function summarize(buckets: readonly ReadonlyMap<string, TaskTrafficGroup>[]): Summary {
  let all = new Map<string, TaskTrafficGroup>();
  for (const bucket of buckets) all = addGroups(all, [...bucket.values()]);
  const groups = [...all.values()].flatMap((group) =>
    group.taskType === null ? [] : [{ ...group, taskType: group.taskType }],
  );
  const tags = new Set(groups.map(({ taskType }) => taskType));
  return {
    groups,
    byTask: new Map([...tags].map((tag) => [tag, trafficOf(groups.filter(({ taskType }) => taskType === tag))])),
    paid: paidPrices([...all.values()]),
  };
}

/** @param groups of one tag */
function trafficOf(groups: readonly TaskTrafficGroup[]): TaskTraffic {
  const sum = (of: (group: TaskTrafficGroup) => number): number => groups.reduce((total, one) => total + of(one), 0);
  const requests = sum((group) => group.requests);
  const spent = new Map(groups.map(({ model, costNanoUsd }) => [model, costNanoUsd]));
  return {
    requests,
    tokens: {
      prompt: sum((group) => group.tokensPrompt) / requests,
      completion: sum((group) => group.tokensCompletion) / requests,
    },
    standingOf(slug) {
      const own = spent.get(slug) ?? 0;
      if (own === 0) return 0;
      return [...spent.values()].filter((other) => other <= own).length / spent.size;
    },
  };
}

const NANO_PER_USD = 1e9;
const TOKENS_PER_MILLION = 1e6;

function paidPrices(groups: readonly TaskTrafficGroup[]): ReadonlyMap<string, number> {
  const byModel = new Map<string, TaskTrafficGroup>();
  for (const group of groups) byModel.set(group.model, add(byModel.get(group.model), group));
  return new Map(
    [...byModel.values()].flatMap(({ model, requests, pricedTokensPrompt, promptNanoUsd }) =>
      requests < PRICED_REQUESTS_MIN || pricedTokensPrompt === 0
        ? []
        : [[model, (promptNanoUsd / NANO_PER_USD / pricedTokensPrompt) * TOKENS_PER_MILLION] as const],
    ),
  );
}
