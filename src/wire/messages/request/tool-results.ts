import { legalToolId } from './tool-ids.ts';
import type { Warnings } from '../../gateway/warnings.ts';
import { textOf, type WireObject } from '../../json-fields.ts';
import type { WireMessage } from './wire-message.ts';
import { MISSING_RESULT } from '../../gateway/tool-results/match-tool-results.ts';

/** The calls of one assistant message, by the id that the caller wrote, which may stand there more than once. */
interface Calls {
  /** As sent, in order. */
  readonly byId: ReadonlyMap<string, readonly WireObject[]>;
  /** What answers them, in the order of the conversation. */
  readonly results: Map<string, WireObject[]>;
}

interface Entry {
  readonly message: WireMessage;
  /** Of an assistant message. */
  readonly calls?: Calls;
}

/**
 * Makes tool calls and results pair up as the vendor demands: every call is answered in the next message, once, and
 * nothing else is answered. Chat histories often break that rule (@spec translate-4): a result that comes late is moved to its
 * call, of several the last counts, and a call without one gets an error.
 * @param sourcePaths the caller's path of calls and results
 */
export function repairToolResults(
  messages: readonly WireMessage[],
  sourcePaths: ReadonlyMap<WireObject, string>,
  warnings: Warnings,
): WireMessage[] {
  const entries = collect(messages, sourcePaths, warnings);
  const repaired: WireMessage[] = [];
  let open: Calls | undefined;
  for (const { message, calls } of entries) {
    const answers = open === undefined ? [] : response(open, sourcePaths, warnings);
    open = calls;
    if (calls === undefined) {
      const content = [...answers, ...blocksOf(message)];
      if (content.length > 0) push(repaired, { ...message, content });
      continue;
    }
    if (answers.length > 0) push(repaired, { role: 'user', content: answers });
    push(repaired, message);
  }
  const owed = open === undefined ? [] : response(open, sourcePaths, warnings);
  if (owed.length > 0) push(repaired, { role: 'user', content: owed });
  return repaired;
}

/** Takes the results out of the messages and gives each to the calls that it answers. */
function collect(
  messages: readonly WireMessage[],
  sourcePaths: ReadonlyMap<WireObject, string>,
  warnings: Warnings,
): readonly Entry[] {
  const used = new Map<string, number>();
  const latest = new Map<string, Calls>();
  let before: Calls | undefined;
  return messages.map((message) => {
    if (message.role === 'assistant') {
      before = renameCalls(message, used);
      for (const id of before.byId.keys()) latest.set(id, before);
      return { message, calls: before };
    }
    const others: WireObject[] = [];
    for (const block of blocksOf(message)) {
      if (block['type'] !== 'tool_result') {
        others.push(block);
        continue;
      }
      const id = textOf(block['tool_use_id']) ?? '';
      const calls = before?.byId.has(id) === true ? before : latest.get(id);
      const path = sourcePaths.get(block) ?? 'messages';
      if (calls === undefined) warnings.add('content-dropped', path, 'is the result of no call that came before it');
      else if (calls !== before) warnings.add('field-changed', path, 'moved to the call that it is the result of');
      if (calls !== undefined) calls.results.set(id, [...(calls.results.get(id) ?? []), block]);
    }
    before = undefined;
    return { message: { ...message, content: others } };
  });
}

/** A message that lost all its content leaves neighbours of one role behind. */
function push(messages: WireMessage[], message: WireMessage): void {
  const last = messages.at(-1);
  if (last?.role === message.role) last.content = [...blocksOf(last), ...blocksOf(message)];
  else messages.push(message);
}

/** Gives each call an id that the format takes and that no earlier call has: some upstreams count from 0 in every response. */
function renameCalls(message: WireMessage, used: Map<string, number>): Calls {
  const byId = new Map<string, WireObject[]>();
  for (const block of blocksOf(message)) {
    if (block['type'] !== 'tool_use') continue;
    const given = textOf(block['id']) ?? '';
    block['id'] = unusedId(legalToolId(given), used);
    const same = byId.get(given);
    if (same === undefined) byId.set(given, [block]);
    else same.push(block);
  }
  return { byId, results: new Map() };
}

function unusedId(legal: string, used: Map<string, number>): string {
  let copies = used.get(legal) ?? 0;
  let id = legal;
  while (used.has(id)) id = `${legal}_${++copies}`;
  used.set(legal, copies);
  used.set(id, used.get(id) ?? 0);
  return id;
}

/** The results in the order of the calls. Of too many for one id the last ones count. */
function response(
  { byId, results }: Calls,
  sourcePaths: ReadonlyMap<WireObject, string>,
  warnings: Warnings,
): WireObject[] {
  return [...byId].flatMap(([id, calls]) => {
    const given = results.get(id) ?? [];
    for (const extra of given.slice(0, Math.max(0, given.length - calls.length)))
      warnings.add('content-dropped', sourcePaths.get(extra) ?? 'messages', 'a later result of the same call was sent');
    const kept = given.slice(-calls.length);
    return calls.map((call, at) => {
      const result = kept[at];
      if (result === undefined) {
        const path = sourcePaths.get(call) ?? 'messages';
        warnings.add('field-changed', path, 'has no result, so an error was sent for it');
        return { type: 'tool_result', tool_use_id: call['id'], content: MISSING_RESULT, is_error: true };
      }
      result['tool_use_id'] = call['id'];
      return result;
    });
  });
}

function blocksOf(message: WireMessage): readonly WireObject[] {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
}
