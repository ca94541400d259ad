import { isJsonObject } from '../../../lib/json.ts';
import { isToolResult, isToolUse, type EncodeContext, type Message, type Piece } from './encode-context.ts';
import { legalToolId } from './tool-ids.ts';
import { objectAt, textOf } from '../../json-fields.ts';
import { MISSING_RESULT } from '../../gateway/tool-results/match-tool-results.ts';

/** A call of one assistant message, as it will be sent. */
interface Call {
  readonly id: string;
  readonly path: string;
}

/** The calls of one assistant message, by the id that the caller wrote, which may stand there more than once. */
interface Calls {
  readonly byId: ReadonlyMap<string, readonly Call[]>;
  /** What answers them, in the order of the conversation. */
  readonly results: Map<string, Piece[]>;
}

interface Entry {
  readonly message: Message;
  /** Of an assistant message. */
  readonly calls?: Calls;
}

/**
 * Makes tool calls and results pair up as the format demands: every call is answered in the next message, once and before
 * anything else, and nothing else is answered. Chat histories often break that rule (@spec translate-4): a result that comes
 * late is moved to its call, of several the last counts, and a call without one gets an error.
 */
export function pairToolResults(messages: readonly Message[], context: EncodeContext): readonly Message[] {
  const paired: Message[] = [];
  let open: Calls | undefined;
  for (const { message, calls } of collect(messages, context)) {
    if (open !== undefined) paired.push({ role: 'user', pieces: response(open, context) });
    paired.push(message);
    open = calls;
  }
  if (open !== undefined) paired.push({ role: 'user', pieces: response(open, context) });
  return mergeNeighbours(paired);
}

/** Roles must alternate, and a message must hold something. */
export function mergeNeighbours(messages: readonly Message[]): readonly Message[] {
  const merged: { readonly role: Message['role']; readonly pieces: Piece[] }[] = [];
  for (const { role, pieces } of messages) {
    const last = merged.at(-1);
    if (last?.role === role) for (const piece of pieces) last.pieces.push(piece);
    else if (pieces.length > 0) merged.push({ role, pieces: [...pieces] });
  }
  return merged;
}

/** Takes the results out of the messages and gives each to the call that it answers. */
function collect(messages: readonly Message[], context: EncodeContext): readonly Entry[] {
  const { warnings } = context;
  const used = new Set<string>();
  const latest = new Map<string, Calls>();
  let before: Calls | undefined;
  return messages.map((message) => {
    if (message.role === 'assistant') {
      const entry = renameCalls(message, used, context);
      before = entry.calls;
      for (const id of entry.calls.byId.keys()) latest.set(id, entry.calls);
      return entry;
    }
    for (const result of message.pieces.filter(isToolResult)) {
      const id = idOf(result);
      const calls = before?.byId.has(id) === true ? before : latest.get(id);
      if (calls === undefined)
        warnings.add('content-dropped', result.path, 'is the result of no call that came before');
      else if (calls !== before)
        warnings.add('field-changed', result.path, 'moved to the call that it is the result of');
      calls?.results.set(id, [...(calls.results.get(id) ?? []), result]);
    }
    before = undefined;
    return { message: { ...message, pieces: message.pieces.filter((piece) => !isToolResult(piece)) } };
  });
}

/** Gives each call an id that the format takes and that no earlier call has: some upstreams count from 0 in every response. */
function renameCalls(message: Message, used: Set<string>, { facts }: EncodeContext): Required<Entry> {
  const byId = new Map<string, Call[]>();
  const pieces = message.pieces.map((piece) => {
    if (!isToolUse(piece)) return piece;
    const call = objectAt(piece.wire, 'toolUse');
    const given = textOf(call['toolUseId']) ?? '';
    const id = unusedId(given, used, facts.shortToolIds === true);
    byId.set(given, [...(byId.get(given) ?? []), { id, path: piece.path }]);
    return { ...piece, wire: { toolUse: { ...call, toolUseId: id } } };
  });
  return { message: { ...message, pieces }, calls: { byId, results: new Map() } };
}

function unusedId(given: string, used: Set<string>, short: boolean): string {
  let id = legalToolId(given, short);
  for (let copy = 2; used.has(id); copy++) id = legalToolId(`${given}_${copy}`, short);
  used.add(id);
  return id;
}

/** The results in the order of the calls. Of too many for one id the last ones count. */
function response({ byId, results }: Calls, { warnings, facts }: EncodeContext): readonly Piece[] {
  return [...byId].flatMap(([given, calls]) => {
    const all = results.get(given) ?? [];
    for (const { path } of all.slice(0, Math.max(0, all.length - calls.length)))
      warnings.add('content-dropped', path, 'a later result of the same call was sent');
    const kept = all.slice(-calls.length);
    return calls.map(({ id: toolUseId, path }, at) => {
      const piece = kept[at];
      const result = piece?.wire['toolResult'];
      if (piece !== undefined && isJsonObject(result))
        return { ...piece, wire: { toolResult: { ...result, toolUseId } } };
      warnings.add('field-changed', path, 'has no result, so an error was sent for it');
      const failed = facts.refusesResultStatus === true ? {} : { status: 'error' };
      return { path, wire: { toolResult: { toolUseId, content: [{ text: MISSING_RESULT }], ...failed } } };
    });
  });
}

function idOf({ wire }: Piece): string {
  return textOf(objectAt(wire, 'toolResult')['toolUseId']) ?? '';
}
