import type { Block } from '../../canonical/blocks.ts';
import type { Turn } from '../../canonical/request.ts';

/** Results of tools that ran at the gateway and that no vendor has. @spec tool-20 */
const OWN_TYPE = /^service_\w+_tool_result$/;
/** This id distinguishes a tool that the gateway ran from one that a vendor ran under the same name. */
const OWN_ID = /^srvtoolu_service_\d+_(\w+)$/;
/** Ids of models that stand in ours; of any other ours stands alone. */
const MODEL_ID = /^\w{1,128}$/;

/**
 * The id under which callers of the messages format see a call that the gateway runs.
 * @param id the model's own
 * @param ordinal of the call in the response
 * @param replaceId stands in where the vendor would not take the model's id
 */
export function shownCallId(id: string, ordinal: number, replaceId: () => string): string {
  return `srvtoolu_service_${ordinal}_${MODEL_ID.test(id) ? id : replaceId()}`;
}

/** The model's own id, of the one that callers see; `undefined` for a call that the gateway did not run. */
export function modelCallId(ownId: string | undefined): string | undefined {
  return ownId === undefined ? undefined : OWN_ID.exec(ownId)?.[1];
}

/** Whether a block of a caller of the messages format is the result of a tool that ran at the gateway. */
export function isServerToolResult(block: Block): boolean {
  return resultId(block) !== undefined;
}

/** Ids of calls that ran at the gateway, in as far as they stand there as calls of the provider's: no upstream knows them. */
export function serverCallIds(turns: readonly Turn[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { blocks } of turns)
    for (const block of blocks) {
      const id = block.type === 'tool-call' ? idOfServerCall(block) : resultId(block);
      if (id !== undefined) ids.add(id);
    }
  return ids;
}

function idOfServerCall({ id, runBy }: Extract<Block, { type: 'tool-call' }>): string | undefined {
  return runBy === 'upstream' && OWN_ID.test(id) ? id : undefined;
}

function resultId(block: Block): string | undefined {
  if (block.type !== 'opaque' || block.format !== 'messages') return undefined;
  const { type, tool_use_id: id } = block.value;
  if (typeof id !== 'string') return undefined;
  return OWN_ID.test(id) || (typeof type === 'string' && OWN_TYPE.test(type)) ? id : undefined;
}
