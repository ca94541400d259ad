import type { Directives, StopCondition } from '../../canonical/directives.ts';
import type { EndEvent } from '../../canonical/events.ts';
import { functionNameOf } from '../../canonical/tools/server-call.ts';
import { unreachable } from '../../lib/assert.ts';
import { nanoFromUsd } from '../../lib/money.ts';

/** Calls of server tools where the caller names no other number. @spec tool-14 */
const STEPS_DEFAULT = 30;
/** Also where stop conditions stand in place of the number. @spec tool-16 */
const STEPS_CEILING = 100;

/** How far the loop has come, after a turn of the model whose calls are counted already. */
export interface LoopState {
  /** Calls, those of the latest turn included. */
  readonly steps: number;
  /** Functions that were called, in any turn, and the types of the tools that they stand for. */
  readonly called: ReadonlySet<string>;
  readonly totalTokens: number;
  readonly costNanoUsd: number;
  /** How the latest turn ended. */
  readonly end: Pick<EndEvent, 'finish' | 'nativeFinish'> | undefined;
}

export interface StopRules {
  /** So many calls may run in all. */
  readonly stepsMax: number;
  /** Whether the calls of the latest turn are the last ones: they run, and one turn without tools follows. */
  isReached(state: LoopState): boolean;
}

/** Any one of the conditions is enough; without conditions the number of calls is the only one. @spec tool-17, tool-18 */
export function createStopRules({ stopServerToolsWhen: conditions, maxToolCalls }: Directives): StopRules {
  const stepsMax = conditions === undefined ? (maxToolCalls ?? STEPS_DEFAULT) : STEPS_CEILING;
  return {
    stepsMax,
    isReached: (state) => state.steps >= stepsMax || (conditions ?? []).some((condition) => isMet(condition, state)),
  };
}

function isMet(condition: StopCondition, { steps, called, totalTokens, costNanoUsd, end }: LoopState): boolean {
  switch (condition.type) {
    case 'step_count_is':
      return steps >= condition.stepCount;
    case 'has_tool_call':
      // Both spellings: the type of the tool, and the name of its function.
      return called.has(condition.toolName) || called.has(functionNameOf(condition.toolName));
    case 'max_tokens_used':
      return totalTokens > condition.maxTokens;
    case 'max_cost':
      return costNanoUsd > nanoFromUsd(condition.maxCostInDollars);
    case 'finish_reason_is':
      return end?.finish === condition.reason || end?.nativeFinish === condition.reason;
    default:
      return unreachable(condition);
  }
}
