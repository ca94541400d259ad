import type { ToolCallBlock, ToolResultBlock } from '../../../canonical/blocks.ts';
import type { ClientFormatId } from '../../../canonical/extra.ts';
import { pathOfConversation } from '../source/source-paths.ts';
import type { Warnings } from '../warnings.ts';
import type { LocatedTurn } from '../source/source-positions.ts';

/** A call of a conversation, with the id that it is sent under. */
export interface SentCall {
  readonly block: ToolCallBlock;
  readonly id: string;
}

export interface LocatedResult {
  readonly block: ToolResultBlock;
  readonly path: string;
}

/** The text of a result that never came, in formats that mark failed results. */
export const MISSING_RESULT = 'No result was given for this tool call.';
/** The same in formats that have no such mark. */
export const MISSING_RESULT_ERROR = 'Error: this call was not answered';
/** The text of a result whose files the format wants elsewhere. */
export const RESULT_FOLLOWS = 'The result is in the user message that follows.';

/**
 * Each call with its result, in the order of the calls, for a wire that demands one for each; `undefined`: it has none. Of
 * calls that share an id each takes one result, and the last result of an id counts for its last call. @spec translate-4
 */
export function matchToolResults(
  run: readonly LocatedTurn[],
  calls: readonly SentCall[],
  warnings: Pick<Warnings, 'add'>,
  caller: ClientFormatId,
): readonly { readonly call: SentCall; readonly result: LocatedResult | undefined }[] {
  const results = collectResults(run, calls, warnings);
  return calls.map((call) => {
    const result = results.get(call.block.id)?.shift();
    if (result === undefined) {
      const path = run[0]?.path ?? pathOfConversation(caller);
      const id = call.block.id.slice(0, 80);
      warnings.add('field-changed', path, `the call ${id} has no result: it gets an error`);
    }
    return { call, result };
  });
}

/** As many results for each id as it has calls: of more the last count, and one of a call that is not sent is left out. */
function collectResults(
  run: readonly LocatedTurn[],
  calls: readonly SentCall[],
  warnings: Pick<Warnings, 'add'>,
): ReadonlyMap<string, LocatedResult[]> {
  const results = new Map<string, LocatedResult[]>();
  const wanted = new Map<string, number>();
  for (const { block } of calls) wanted.set(block.id, (wanted.get(block.id) ?? 0) + 1);
  for (const { block, path } of run.flatMap(({ blocks }) => blocks)) {
    if (block.type !== 'tool-result') continue;
    const count = wanted.get(block.callId);
    if (count === undefined) {
      warnings.add('content-dropped', path, 'the result of a call that is not sent');
      continue;
    }
    const same = results.get(block.callId) ?? [];
    results.set(block.callId, same);
    same.push({ block, path });
    const dropped = same.length > count ? same.shift() : undefined;
    if (dropped !== undefined)
      warnings.add('content-dropped', dropped.path, 'a later result of the same call was sent');
  }
  return results;
}
