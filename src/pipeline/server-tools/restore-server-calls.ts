import type { Block, ToolCallBlock, ToolResultBlock } from '../../canonical/blocks.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import type { ReplayedServerCall } from '../../canonical/tools/server-call.ts';
import type { ServerTool } from '../../tools/contract.ts';
import type { ServerCallCodec } from '../../wire/format.ts';
import type { OfferedTools } from './offer-server-tools.ts';

type Recalling = ReadonlyMap<string, Pick<ServerTool, 'recall'>>;

/**
 * The request with functions in the place of its server tools, and with the earlier responses that the caller sends back
 * taken apart again into the turns that models gave them in: calls of server tools, their results, and what the model wrote
 * then. Only calls of tools that are offered again; others stay as they came.
 * @spec tool-10, tool-21
 */
export function restoreServerCalls(
  { request, entries }: Pick<OfferedTools, 'request' | 'entries'>,
  codec: ServerCallCodec,
): GenerationRequest {
  // By the names of the functions that stand for them in this request.
  const tools: Recalling = new Map(entries.map(({ name, tool }) => [name, tool]));
  const isRestored = (block: Block): boolean => codec.decode(block) !== undefined;
  if (!request.turns.some(({ role, blocks }) => role === 'assistant' && blocks.some(isRestored))) return request;
  return splitTurns(request, () => offeredCalls(codec, tools));
}

/** What a block of a response is, of a call that ran before the response went on. */
type DecodeRun = (block: Block) => ReplayedServerCall | undefined;

/**
 * The request with each response taken apart into the turns that its calls, which ran elsewhere, divide it into.
 * @param openResponse gives what decodes the blocks of one response
 */
export function splitTurns(request: GenerationRequest, openResponse: () => DecodeRun): GenerationRequest {
  const turns: Turn[] = [];
  let pendingResults: readonly ToolResultBlock[] = [];
  for (const turn of request.turns) {
    if (turn.role === 'assistant') {
      const split = splitResponse(turn, openResponse());
      turns.push(...turnsOfResults(pendingResults), ...split.turns);
      pendingResults = split.pendingResults;
      continue;
    }
    // Results of one turn stand together: those of the caller's own calls follow ours.
    const joins = turn.role === 'user' && turn.blocks[0]?.type === 'tool-result';
    if (joins) turns.push({ ...turn, blocks: [...pendingResults, ...turn.blocks] });
    else turns.push(...turnsOfResults(pendingResults), turn);
    pendingResults = [];
  }
  return { ...request, turns: [...turns, ...turnsOfResults(pendingResults)] };
}

function turnsOfResults(pendingResults: readonly ToolResultBlock[]): readonly Turn[] {
  return pendingResults.length === 0 ? [] : [{ role: 'tool', blocks: pendingResults }];
}

interface SplitResponse {
  readonly turns: readonly Turn[];
  /** Results for the next turn. */
  readonly pendingResults: readonly ToolResultBlock[];
}

function splitResponse(answer: Turn, decode: DecodeRun): SplitResponse {
  const split = new ResponseSplit(answer);
  for (const block of answer.blocks) {
    const replayed = decode(block);
    if (replayed === undefined) split.add(block);
    else split.restore(replayed);
  }
  return split.end();
}

/** Of tools that are offered again. */
function offeredCalls(codec: ServerCallCodec, tools: Recalling): DecodeRun {
  const known = new Map<string, Pick<ServerTool, 'recall'>>();
  return (block) => {
    const replayed = codec.decode(block);
    const called = replayed?.call === undefined ? undefined : tools.get(replayed.call.name);
    if (replayed !== undefined && called !== undefined) known.set(replayed.id, called);
    const tool = replayed === undefined ? undefined : known.get(replayed.id);
    return replayed === undefined || tool === undefined ? undefined : recalled(replayed, tool);
  };
}

/** What the model is to read of it, where that is not all. */
function recalled(replayed: ReplayedServerCall, { recall }: Pick<ServerTool, 'recall'>): ReplayedServerCall {
  const { result } = replayed;
  if (result === undefined || recall === undefined) return replayed;
  return { ...replayed, result: { ...result, text: recall(result.text) } };
}

/** A class because it lives as long as it takes to go through one answer. */
class ResponseSplit {
  readonly #answer: Turn;
  readonly #turns: Turn[] = [];
  #blocks: Block[] = [];
  #results: ToolResultBlock[] = [];
  /** Of the calls that are collected, where they tell. */
  #turn: number | undefined;
  /** They end the answer, together with calls of the caller's own: the text of their turn stands behind them. */
  #isLast = false;
  /** Those calls. */
  readonly #lastCalls: ToolCallBlock[] = [];

  constructor(answer: Turn) {
    this.#answer = answer;
  }

  /** What the model said itself. After the results of a turn it is the next turn's. */
  add(block: Block): void {
    if (this.#results.length > 0 && !this.#isLast) this.#close();
    if (block.type === 'tool-call') this.#blocks.push(...this.#lastCalls.splice(0));
    this.#blocks.push(block);
  }

  restore({ id, call, result }: ReplayedServerCall): void {
    if (call !== undefined) {
      const isSameTurn = call.turn !== undefined && call.turn === this.#turn;
      if (this.#results.length > 0 && !isSameTurn) this.#close();
      this.#turn = call.turn;
      this.#isLast = call.besideCalls === true;
      (this.#isLast ? this.#lastCalls : this.#blocks).push(callOf(id, call));
    }
    if (result !== undefined) this.#results.push(resultOf(id, result));
  }

  end(): SplitResponse {
    this.#blocks.push(...this.#lastCalls);
    const last: readonly Turn[] = this.#blocks.length === 0 ? [] : [{ ...this.#answer, blocks: this.#blocks }];
    return { turns: [...this.#turns, ...last], pendingResults: this.#results };
  }

  #close(): void {
    const turn: Turn = { role: 'assistant', blocks: this.#blocks };
    this.#turns.push(turn, { role: 'tool', blocks: this.#results });
    this.#blocks = [];
    this.#results = [];
  }
}

function callOf(id: string, { name, input }: NonNullable<ReplayedServerCall['call']>): ToolCallBlock {
  return { type: 'tool-call', id, name, input, runBy: 'caller' };
}

function resultOf(callId: string, { text, failed }: NonNullable<ReplayedServerCall['result']>): ToolResultBlock {
  return {
    type: 'tool-result',
    callId,
    content: [{ type: 'text', text }],
    plain: true,
    ...(failed && { failed }),
  };
}
