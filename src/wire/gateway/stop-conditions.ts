import { z } from 'zod';
import type { StopCondition } from '../../canonical/directives.ts';
import { unreachable } from '../../lib/assert.ts';

const stopCondition = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('step_count_is'), step_count: z.int().min(0) }),
  z.looseObject({ type: z.literal('has_tool_call'), tool_name: z.string().min(1) }),
  z.looseObject({ type: z.literal('max_tokens_used'), max_tokens: z.int().min(0) }),
  z.looseObject({ type: z.literal('max_cost'), max_cost_in_dollars: z.number().min(0) }),
  z.looseObject({ type: z.literal('finish_reason_is'), reason: z.string().min(1) }),
]);

/** @spec tool-17 */
export const stopConditionList = z.array(stopCondition).min(1);

/** An array of conditions, or one alone, which the chat format allows. @spec tool-16 */
export const oneOrMoreStopConditions = z.union([stopConditionList, stopCondition]);

export function decodeStopConditions(parsed: z.output<typeof oneOrMoreStopConditions>): readonly StopCondition[] {
  return (Array.isArray(parsed) ? parsed : [parsed]).map(decodeStopCondition);
}

function decodeStopCondition(condition: z.output<typeof stopCondition>): StopCondition {
  switch (condition.type) {
    case 'step_count_is':
      return { type: 'step_count_is', stepCount: condition.step_count };
    case 'has_tool_call':
      return { type: 'has_tool_call', toolName: condition.tool_name };
    case 'max_tokens_used':
      return { type: 'max_tokens_used', maxTokens: condition.max_tokens };
    case 'max_cost':
      return { type: 'max_cost', maxCostInDollars: condition.max_cost_in_dollars };
    case 'finish_reason_is':
      return { type: 'finish_reason_is', reason: condition.reason };
    default:
      return unreachable(condition);
  }
}
