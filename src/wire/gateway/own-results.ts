import type { Block } from '../../canonical/blocks.ts';
import type { Turn } from '../../canonical/request.ts';

/** Results of the gateway's own sandboxes: accepted back, never sent on. @source generation.md 5.12, 7.2 */
const RESULT_TYPES: ReadonlySet<unknown> = new Set(['service_shell_tool_result', 'service_bash_tool_result']);

/** Whether a block of a caller of the messages format is the result of a tool that ran at the gateway. */
export function isOwnResult(block: Block): boolean {
  return block.type === 'opaque' && RESULT_TYPES.has(block.value['type']);
}

/** Ids of the calls that such results answer: no upstream knows them. */
export function callsOfOwnResults(turns: readonly Turn[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { blocks } of turns)
    for (const block of blocks) {
      const id = block.type === 'opaque' && isOwnResult(block) ? block.value['tool_use_id'] : undefined;
      if (typeof id === 'string') ids.add(id);
    }
  return ids;
}
