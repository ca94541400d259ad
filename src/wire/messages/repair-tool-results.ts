import { legalToolId } from './legal-names.ts';
import type { Warnings } from '../gateway/warnings.ts';
import { stringOf } from './wire-object.ts';
import type { WireMessage, WireObject } from './wire-object.ts';

const MISSING_RESULT = 'No result was given for this tool call.';

/** Ids of the calls of one message: from the id that the caller wrote to the ids that are sent, in order. */
type Calls = ReadonlyMap<string, readonly string[]>;

const NO_CALLS: Calls = new Map();

/**
 * Makes tool calls and results pair up as the vendor demands: every call is answered in the next message, once, and
 * nothing else is answered. Chat histories often break that rule (pains.md 21).
 */
export function repairToolResults(messages: readonly WireMessage[], warnings: Warnings): WireMessage[] {
  const repaired: WireMessage[] = [];
  const used = new Map<string, number>();
  let calls = NO_CALLS;
  for (const message of messages) {
    if (message.role === 'assistant') {
      if (calls.size > 0) push(repaired, { role: 'user', content: answer([], calls, warnings) });
      calls = renameCalls(message, used);
      push(repaired, message);
      continue;
    }
    const content = answer(blocksOf(message), calls, warnings);
    calls = NO_CALLS;
    if (content.length > 0) push(repaired, { ...message, content });
  }
  if (calls.size > 0) push(repaired, { role: 'user', content: answer([], calls, warnings) });
  return repaired;
}

/** A message that lost all its content leaves neighbours of one role behind. */
function push(messages: WireMessage[], message: WireMessage): void {
  const last = messages.at(-1);
  if (last?.role === message.role) last.content = [...blocksOf(last), ...blocksOf(message)];
  else messages.push(message);
}

/** Gives each call an id that the wire takes and that no earlier call has: some upstreams count from 0 in every answer. */
function renameCalls(message: WireMessage, used: Map<string, number>): Calls {
  const ids = new Map<string, string[]>();
  for (const block of blocksOf(message)) {
    if (block['type'] !== 'tool_use') continue;
    const given = stringOf(block['id']) ?? '';
    const id = unusedId(legalToolId(given), used);
    block['id'] = id;
    const same = ids.get(given);
    if (same === undefined) ids.set(given, [id]);
    else same.push(id);
  }
  return ids;
}

function unusedId(legal: string, used: Map<string, number>): string {
  let copies = used.get(legal) ?? 0;
  let id = legal;
  while (used.has(id)) id = `${legal}_${++copies}`;
  used.set(legal, copies);
  used.set(id, used.get(id) ?? 0);
  return id;
}

/** The results in the order of the calls, then whatever else the message holds. */
function answer(blocks: readonly WireObject[], calls: Calls, warnings: Warnings): WireObject[] {
  const results = new Map<string, WireObject[]>();
  const others: WireObject[] = [];
  for (const block of blocks) {
    if (block['type'] !== 'tool_result') {
      others.push(block);
      continue;
    }
    const given = stringOf(block['tool_use_id']) ?? '';
    const same = results.get(given);
    if (same === undefined) results.set(given, [block]);
    else same.push(block);
    if (!calls.has(given))
      warnings.add('content-dropped', 'messages', `the result of an unknown tool call ${quote(given)} was left out`);
  }
  const answers: WireObject[] = [];
  for (const [given, ids] of calls) answers.push(...pair(given, ids, results.get(given) ?? [], warnings));
  return [...answers, ...others];
}

/** Of too many results for one id the last ones count. */
function pair(given: string, ids: readonly string[], results: readonly WireObject[], warnings: Warnings): WireObject[] {
  if (results.length > ids.length)
    warnings.add(
      'content-dropped',
      'messages',
      `of several results of the tool call ${quote(given)} the last was sent`,
    );
  if (results.length < ids.length)
    warnings.add(
      'field-changed',
      'messages',
      `the tool call ${quote(given)} has no result, so an error was sent for it`,
    );
  const kept = results.slice(-ids.length);
  return ids.map((id, at) => {
    const result = kept[at];
    if (result === undefined) return { type: 'tool_result', tool_use_id: id, content: MISSING_RESULT, is_error: true };
    return { ...result, tool_use_id: id };
  });
}

function blocksOf(message: WireMessage): readonly WireObject[] {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}
