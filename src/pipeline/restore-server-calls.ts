import type { Block, ToolCallBlock, ToolResultBlock } from '../canonical/blocks.ts';
import type { GenerationRequest, Turn } from '../canonical/request.ts';
import type { ReplayedServerCall } from '../canonical/server-call.ts';
import type { ServerTool } from '../tools/contract.ts';
import type { ServerCallWords } from '../wire/format.ts';

/** Tools that are offered. */
type Recalling = ReadonlyMap<string, Pick<ServerTool, 'recall'>>;

/**
 * Takes the answers that callers send back apart again into the turns that models gave them in: calls of server tools, what
 * the tools said, and what the model said then. Only calls of tools that are offered again; others stay as they came.
 * @param tools by the names of the functions that stand for them in this request
 * @source generation.md 5.2 item 6
 */
export function restoreServerCalls(
  request: GenerationRequest,
  words: ServerCallWords,
  tools: Recalling,
): GenerationRequest {
  const isRestored = (block: Block): boolean => words.read(block) !== undefined;
  if (!request.turns.some(({ role, blocks }) => role === 'assistant' && blocks.some(isRestored))) return request;
  const turns: Turn[] = [];
  let owed: readonly ToolResultBlock[] = [];
  for (const turn of request.turns) {
    if (turn.role === 'assistant') {
      const split = splitAnswer(turn, words, tools);
      turns.push(...payResults(owed), ...split.turns);
      owed = split.owed;
      continue;
    }
    // Results of one turn stand together: those of the caller's own calls follow ours.
    const joins = turn.role === 'user' && turn.blocks[0]?.type === 'tool-result';
    if (joins) turns.push({ ...turn, blocks: [...owed, ...turn.blocks] });
    else turns.push(...payResults(owed), turn);
    owed = [];
  }
  return { ...request, turns: [...turns, ...payResults(owed)] };
}

function payResults(owed: readonly ToolResultBlock[]): readonly Turn[] {
  return owed.length === 0 ? [] : [{ role: 'tool', blocks: owed }];
}

interface SplitAnswer {
  readonly turns: readonly Turn[];
  /** Results that the next turn brings. */
  readonly owed: readonly ToolResultBlock[];
}

function splitAnswer(answer: Turn, words: ServerCallWords, tools: Recalling): SplitAnswer {
  const split = new AnswerSplit(answer);
  const known = new Map<string, Pick<ServerTool, 'recall'>>();
  for (const block of answer.blocks) {
    const replayed = words.read(block);
    const called = replayed?.call === undefined ? undefined : tools.get(replayed.call.name);
    if (replayed !== undefined && called !== undefined) known.set(replayed.id, called);
    const tool = replayed === undefined ? undefined : known.get(replayed.id);
    if (replayed === undefined || tool === undefined) split.add(block);
    else split.restore(recalled(replayed, tool));
  }
  return split.end();
}

/** What the model is to read of it, where that is not all. */
function recalled(replayed: ReplayedServerCall, { recall }: Pick<ServerTool, 'recall'>): ReplayedServerCall {
  const { result } = replayed;
  if (result === undefined || recall === undefined) return replayed;
  return { ...replayed, result: { ...result, text: recall(result.text) } };
}

/** A class because it lives as long as it takes to go through one answer. */
class AnswerSplit {
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

  end(): SplitAnswer {
    this.#blocks.push(...this.#lastCalls);
    const last: readonly Turn[] = this.#blocks.length === 0 ? [] : [{ ...this.#answer, blocks: this.#blocks }];
    return { turns: [...this.#turns, ...last], owed: this.#results };
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
