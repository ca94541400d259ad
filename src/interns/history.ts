import type { Block, ToolCallBlock } from '../canonical/blocks.ts';
import type { Turn } from '../canonical/request.ts';
import { isJsonObject, parseJson } from '../lib/json.ts';
import type { InternRunRow, InternStepRow } from '../store/interns/columns.ts';

/** A run with its steps, and what was said in it. */
export interface RunHistory {
  readonly run: InternRunRow;
  readonly steps: readonly InternStepRow[];
  /** By their names: `prompt`, `3 output`. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Calls of one turn of the model; further ones are dropped. */
const CALLS_MAX = 32;
/** Of all turns, UTF-16 units: where there are more, the oldest runs are left out. */
export const HISTORY_CHARS_MAX = 1_000_000;

const NOT_RUN = 'The run ended before this call was made.';
export const NOT_KNOWN = 'It is not known whether this ran: the gateway stopped while it did. It was not repeated.';

/** The calls of tools that a step of the model made. */
function callsOf(blocks: readonly Block[]): readonly ToolCallBlock[] {
  return blocks.filter((block) => block.type === 'tool-call').slice(0, CALLS_MAX);
}

/**
 * What a step keeps of a response: what the next call of the model needs, and no more calls than are run.
 * @param isCut it ended at a limit of tokens, maybe in the arguments of a call: no call of it is made
 */
export function keptBlocks(blocks: readonly Block[], isCut: boolean): readonly Block[] {
  const calls = new Set<Block>(isCut ? [] : callsOf(blocks));
  return blocks.filter(
    (block) =>
      ['text', 'reasoning', 'refusal'].includes(block.type) || (block.type === 'tool-call' && calls.has(block)),
  );
}

export function parseBlocks(text: string | undefined): readonly Block[] {
  const parsed = text === undefined ? undefined : parseJson(text);
  return Array.isArray(parsed) ? parsed.filter(isBlock) : [];
}

/** Of texts that this area sealed itself: the kind is all that is checked. */
function isBlock(value: unknown): value is Block {
  return isJsonObject(value) && typeof value['type'] === 'string';
}

export function textOf(blocks: readonly Block[]): string {
  return blocks
    .flatMap((block) => (block.type === 'text' || block.type === 'refusal' ? [block.text] : []))
    .join('\n\n');
}

/** The conversation of a session as models read it. @param runs the oldest first; the last one is under way */
export function turnsOf(instructions: string, runs: readonly RunHistory[], notes?: Turn): readonly Turn[] {
  const system: Turn = { role: 'system', blocks: [{ type: 'text', text: instructions }] };
  let chars = 0;
  const kept: (readonly Turn[])[] = [];
  for (const run of runs.toReversed()) {
    const turns = turnsOfRun(run);
    chars += turns.reduce((sum, { blocks }) => sum + JSON.stringify(blocks).length, 0);
    if (kept.length > 0 && chars > HISTORY_CHARS_MAX) break;
    kept.push(turns);
  }
  return [
    ...(instructions === '' ? [] : [system]),
    ...(notes === undefined ? [] : [notes]),
    ...kept.toReversed().flat(),
  ];
}

function turnsOfRun({ steps, texts }: RunHistory): readonly Turn[] {
  const prompt = texts.get('prompt');
  // Its texts are gone by age.
  if (prompt === undefined) return [];
  const turns: Turn[] = [userTurn(prompt)];
  for (const step of steps) {
    if (step.kind !== 'model' || step.state !== 'done') continue;
    const blocks = parseBlocks(texts.get(`${step.n} output`));
    if (blocks.length > 0) turns.push({ role: 'assistant', blocks });
    const messages: Turn[] = [];
    for (const [at, call] of callsOf(blocks).entries()) {
      const n = step.n + 1 + at;
      turns.push({ role: 'tool', blocks: [resultOf(call, texts, n)] });
      const message = texts.get(`${n} message`);
      if (message !== undefined) messages.push(userTurn(message));
    }
    turns.push(...messages);
  }
  return turns;
}

function resultOf(call: ToolCallBlock, texts: ReadonlyMap<string, string>, n: number): Block {
  const answer = texts.get(`${n} question answer`);
  const output = texts.get(`${n} output`) ?? NOT_RUN;
  const text = answer === undefined ? output : `${output}\nThe user says: ${answer}`;
  return { type: 'tool-result', callId: call.id, content: [{ type: 'text', text }], plain: true };
}

function userTurn(text: string): Turn {
  return { role: 'user', blocks: [{ type: 'text', text }], plain: true };
}

/** What a run does next, as its steps say. */
export type NextStep =
  | { readonly kind: 'model'; readonly n: number; readonly step: InternStepRow | undefined }
  | {
      readonly kind: 'tool';
      readonly n: number;
      readonly call: ToolCallBlock;
      readonly step: InternStepRow | undefined;
    }
  | { readonly kind: 'end'; readonly ending: 'stop' | 'length' };

export function nextStepOf({ steps, texts }: Pick<RunHistory, 'steps' | 'texts'>): NextStep {
  const last = steps.findLast(({ kind }) => kind === 'model');
  if (last === undefined) return { kind: 'model', n: 1, step: undefined };
  if (last.state !== 'done') return { kind: 'model', n: last.n, step: last };
  const calls = callsOf(parseBlocks(texts.get(`${last.n} output`)));
  for (const [at, call] of calls.entries()) {
    const n = last.n + 1 + at;
    const step = steps.find((other) => other.n === n);
    if (step?.state !== 'done' && step?.state !== 'unknown') return { kind: 'tool', n, call, step };
  }
  if (calls.length === 0) return { kind: 'end', ending: texts.has(`${last.n} finish`) ? 'length' : 'stop' };
  return { kind: 'model', n: last.n + 1 + calls.length, step: undefined };
}
