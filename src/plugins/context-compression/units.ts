import type { Block } from '../../canonical/blocks.ts';
import { estimateTurnTokens } from '../../canonical/estimate-tokens.ts';
import type { Turn } from '../../canonical/request.ts';
import type { Json, JsonObject } from '../../lib/json.ts';

/** Turns that are kept or left out together: one, or a call of tools with everything down to its last result. */
export interface Unit {
  readonly turns: readonly Turn[];
  /** As estimated. */
  readonly tokens: number;
  /** It is never left out, nor cut. @spec plugin-21 */
  readonly isKept: boolean;
}

/**
 * A conversation in the parts that can be left out. Kept are instructions, the first message of the user and the last, and
 * the last turn; where that is the beginning of an answer, what it answers too.
 */
export function unitsOf(turns: readonly Turn[]): readonly Unit[] {
  const groups = groupTurns(turns);
  const isOfUser = (group: readonly Turn[]): boolean => group.some(isMessageOfUser);
  const requested = new Set([groups.findIndex(isOfUser), groups.findLastIndex(isOfUser)]);
  const last = groups.length - 1;
  const isAnswerBegun = turns.at(-1)?.role === 'assistant';
  return groups.map((group, index) => ({
    turns: group,
    tokens: group.reduce((sum, turn) => sum + estimateTurnTokens(turn), 0),
    isKept:
      requested.has(index) ||
      index === last ||
      (isAnswerBegun && index === last - 1) ||
      group.some(({ role }) => role === 'system' || role === 'developer'),
  }));
}

/** Of a call and its results, neither may stand without the other: upstreams refuse both. */
function groupTurns(turns: readonly Turn[]): readonly (readonly Turn[])[] {
  const callAt = new Map<string, number>();
  // How many spans from a call to its result begin or end before each turn.
  const bounds: number[] = Array.from({ length: turns.length + 1 }, () => 0);
  for (const [at, { blocks }] of turns.entries())
    for (const block of blocks) {
      const { call, result } = endsOf(block);
      const from = result === undefined ? undefined : callAt.get(result);
      if (from !== undefined && from < at) {
        bounds[from + 1] = (bounds[from + 1] ?? 0) + 1;
        bounds[at + 1] = (bounds[at + 1] ?? 0) - 1;
      }
      if (call !== undefined && from === undefined) callAt.set(call, at);
    }
  const groups: Turn[][] = [];
  let spans = 0;
  for (const [at, turn] of turns.entries()) {
    spans += bounds[at] ?? 0;
    const group = spans > 0 ? groups.at(-1) : undefined;
    if (group === undefined) groups.push([turn]);
    else group.push(turn);
  }
  return groups;
}

/** Ids of the call that a block is, and of the call that it answers. */
interface CallEnds {
  readonly call?: string | undefined;
  readonly result?: string | undefined;
}

function endsOf(block: Block): CallEnds {
  if (block.type === 'tool-call') return { call: block.id };
  if (block.type === 'tool-result') return { result: block.callId };
  return block.type === 'opaque' ? endsOfItem(block.value) : {};
}

/**
 * Of an item that only its vendor knows. A `computer_call` and its output share their `call_id`, of which the first is the
 * call; the answer to an `mcp_approval_request` names the id of that item.
 */
function endsOfItem({ call_id: callId, id, approval_request_id: requestId }: JsonObject): CallEnds {
  if (typeof callId === 'string') return { call: callId, result: callId };
  return { call: textOf(id), result: textOf(requestId) };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isMessageOfUser({ role, blocks }: Turn): boolean {
  const isResult = ({ type }: Block): boolean => type === 'tool-result';
  return role === 'user' && (blocks.length === 0 || !blocks.every(isResult));
}
