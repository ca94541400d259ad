import type { Wish } from '../accounts/ledger.ts';
import type { Spent } from '../accounts/spend-limit.ts';
import type { Directives } from '../canonical/directives.ts';
import type { InnerGenerate } from '../canonical/inner-generation.ts';
import type { ModelChoice } from '../canonical/model-choice.ts';
import type { Clock } from '../lib/clock.ts';
import { nanoFromUsd } from '../lib/money.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { ToolAbilities } from '../tools/contract.ts';
import { spentSoFar } from './account-for.ts';
import type { Committed } from './attempts.ts';
import type { Route } from './choose-route.ts';
import type { Inspection } from './inspect.ts';
import type { OfferedTools } from './offer-server-tools.ts';
import { readyTools } from './run-tools.ts';
import { loopTools, type LoopQuestion, type NextCost } from './tool-loop.ts';
import type { Turns } from './turns.ts';

export interface ToolParts {
  readonly clock: Clock;
  readonly toolAbilities: ToolAbilities;
  /** For the operator's eyes: a broken assumption of ours. */
  readonly onBug: (error: unknown, generationId: string) => void;
}

/** What the turns after the first one go by. */
export interface ToolQuestion extends Pick<LoopQuestion, 'record' | 'signal' | 'words'> {
  readonly offered: OfferedTools;
  readonly route: Route;
  readonly turns: Turns;
  readonly inner: InnerGenerate;
  readonly choice: ModelChoice;
  /** Absent: the caller has no filters. */
  readonly inspection: Inspection | undefined;
  /** The most that a route may come to cost. */
  readonly wish: (route: Route) => Wish;
  /** `false`: too little is left. */
  readonly moveHold: (next: () => Wish) => Promise<boolean>;
}

/** The answer that begins with this turn, over all turns that its calls of server tools take. */
export function answerWithTools(first: Committed, parts: ToolParts, question: ToolQuestion): Committed {
  const { offered, record, route, turns, inner, choice, inspection, wish, moveHold, signal, words } = question;
  const { accountId, workspaceId, keyHash } = record.asker;
  return loopTools(first, {
    request: route.request,
    offered,
    words,
    record,
    signal,
    tools: readyTools(offered, {
      asker: { accountId, workspaceId, keyHash },
      model: () => record.endpoint?.model ?? record.report.requested,
      nowMs: () => parts.clock.nowMs(),
      monotonicMs: () => parts.clock.monotonicMs(),
      abilities: parts.toolAbilities,
      generate: inner,
      choice,
      budgetNanoUsd: () => budgetLeft(offered.asked.directives, record),
      note: (stage) => void record.report.pipeline.push(stage),
    }),
    inspect: (asked) => inspection?.request(asked) ?? Promise.resolve(asked),
    async nextTurn(asked, after) {
      const turn = await turns.next(asked, after);
      return inspection === undefined ? turn : inspection.answer(turn);
    },
    fund: ({ charge }, next) => moveHold(() => afterSpending(charge, nextWish(next, route, wish))),
    onBug: (error) => parts.onBug(error, record.id),
  });
}

/** Nano-USD, by the strictest of the caller's conditions. @param record whose last turn has ended */
function budgetLeft({ stopServerToolsWhen = [] }: Directives, record: GenerationRecord): number | undefined {
  const limits = stopServerToolsWhen.flatMap((one) =>
    one.type === 'max_cost' ? nanoFromUsd(one.maxCostInDollars) : [],
  );
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits) - spentSoFar(record).costNanoUsd);
}

/** What calls of tools cost at most, or a turn of the model. */
function nextWish(next: NextCost, route: Route, wish: (route: Route) => Wish): Wish {
  if ('request' in next) return wish({ ...route, request: next.request });
  const worst = { ownNanoUsd: next.feeNanoUsd, byokNanoUsd: 0 };
  return { generationId: '', worst, isOpenEnded: false, affordableTokens: () => 0 };
}

function afterSpending(spent: Spent, { worst, ...next }: Wish): Wish {
  const ownNanoUsd = spent.ownNanoUsd + worst.ownNanoUsd;
  return { ...next, spent, worst: { ownNanoUsd, byokNanoUsd: spent.byokNanoUsd + worst.byokNanoUsd } };
}
