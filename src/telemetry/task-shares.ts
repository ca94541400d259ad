import type { TaskTrafficGroup } from '../store/usage/task-traffic.ts';

/** Parts of all traffic that was looked at, 0 to 1. Usage is money, or requests where nothing was spent. */
export interface TaskShare {
  readonly tag: string;
  readonly category: TaskCategory;
  readonly usageShare: number;
  readonly tokenShare: number;
  /** Of its category's. */
  readonly categoryUsageShare: number;
  readonly categoryTokenShare: number;
  /** The most used first. */
  readonly models: readonly { readonly id: string; readonly usageShare: number; readonly tokenShare: number }[];
}

export interface TaskShares {
  /** The most used first. */
  readonly tasks: readonly TaskShare[];
  readonly categories: readonly {
    readonly category: TaskCategory;
    readonly usageShare: number;
    readonly tokenShare: number;
  }[];
}

export type TaskCategory = 'code' | 'data' | 'agent' | 'general';

/** Unclassified requests. They count in the total, and are not listed. @spec router-37 */
const UNREPORTED = 'other';
const CATEGORIES = ['code', 'data', 'agent', 'general'] as const;

interface Sum {
  readonly usage: number;
  readonly tokens: number;
}

/** @param groups by tag and model */
export function sharesOf(groups: readonly (TaskTrafficGroup & { readonly taskType: string })[]): TaskShares {
  const isPaid = groups.some(({ costNanoUsd }) => costNanoUsd > 0);
  const sumOf = (some: typeof groups): Sum => ({
    usage: some.reduce((sum, group) => sum + (isPaid ? group.costNanoUsd : group.requests), 0),
    tokens: some.reduce((sum, group) => sum + group.tokensPrompt + group.tokensCompletion, 0),
  });
  const whole = sumOf(groups);
  const reported = groups.filter(({ taskType }) => taskType !== UNREPORTED);
  const tags = [...new Set(reported.map(({ taskType }) => taskType))];
  const tasks = tags.map((tag): TaskShare => {
    const own = reported.filter(({ taskType }) => taskType === tag);
    const sum = sumOf(own);
    const category = categoryOf(tag);
    const all = sumOf(reported.filter(({ taskType }) => categoryOf(taskType) === category));
    return {
      tag,
      category,
      usageShare: share(sum.usage, whole.usage),
      tokenShare: share(sum.tokens, whole.tokens),
      categoryUsageShare: share(sum.usage, all.usage),
      categoryTokenShare: share(sum.tokens, all.tokens),
      models: own
        .map((group) => ({ id: group.model, ...sharesIn(sumOf([group]), sum) }))
        .toSorted((left, right) => right.usageShare - left.usageShare),
    };
  });
  return {
    tasks: tasks.toSorted((left, right) => right.usageShare - left.usageShare),
    categories: CATEGORIES.map((category) => {
      const own = reported.filter(({ taskType }) => categoryOf(taskType) === category);
      return { category, ...sharesIn(sumOf(own), whole) };
    }),
  };
}

function sharesIn(part: Sum, whole: Sum): { readonly usageShare: number; readonly tokenShare: number } {
  return { usageShare: share(part.usage, whole.usage), tokenShare: share(part.tokens, whole.tokens) };
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function categoryOf(tag: string): TaskCategory {
  const prefix = tag.slice(0, tag.indexOf(':') + 1);
  if (prefix === 'code:') return 'code';
  if (prefix === 'agent:') return 'agent';
  return prefix === 'data:' ? 'data' : 'general';
}
