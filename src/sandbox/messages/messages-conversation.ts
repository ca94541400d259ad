import type { Json } from '../../lib/json.ts';
import { readBlocks, type ReadBlock } from './messages-blocks.ts';
import { fieldArray, fieldObject, fieldString, refuseMessages } from './messages-members.ts';
import type { Conversation, Segment, ToolResult } from '../prompt.ts';

interface Message {
  readonly role: string;
  readonly path: string;
  readonly blocks: readonly ReadBlock[];
}

/**
 * Reads `messages` of the messages format, and refuses what a strict vendor refuses.
 * @param isStrict refuses two messages of one role in a row, which the vendor combines and older hosts refuse
 * @param isThinkingOn with `thinking: {type: "enabled"}` the turn that calls tools must begin with its thinking
 */
export function readMessagesConversation(
  messages: Json | undefined,
  isStrict: boolean,
  isThinkingOn: boolean,
): Conversation {
  const read = fieldArray(messages, 'messages').map((item, index) => readMessage(item, `messages.${index}`));
  if (read.length === 0) throw refuseMessages('messages', 'at least one message is required');
  const turns = combine(read, isStrict);
  checkTurns(turns);
  const names = checkToolPairs(turns);
  if (isThinkingOn) checkThinkingFirst(turns);
  const last = turns.at(-1);
  const segments: Segment[] = turns.flatMap(({ role, blocks }) =>
    blocks.map(({ segment }) => ({ ...segment, place: `${role}:${segment.place}` })),
  );
  return { segments, userText: userTextOf(turns), toolResults: last === undefined ? [] : resultsOf(last, names) };
}

function readMessage(item: Json, path: string): Message {
  const message = fieldObject(item, path);
  const role = fieldString(message['role'], `${path}.role`);
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    throw refuseMessages(`${path}.role`, "Input should be 'user', 'assistant' or 'system'");
  return { role, path, blocks: readBlocks(message['content'], `${path}.content`) };
}

/** "Consecutive user or assistant turns are combined into a single turn": vendor's SDK, @anthropic-ai/sdk 1.11. */
function combine(messages: readonly Message[], isStrict: boolean): readonly Message[] {
  const turns: (Message & { readonly blocks: ReadBlock[] })[] = [];
  for (const message of messages) {
    const before = turns.at(-1);
    if (before === undefined || before.role !== message.role || message.role === 'system') {
      turns.push({ ...message, blocks: [...message.blocks] });
      continue;
    }
    if (isStrict)
      throw refuseMessages(
        'messages',
        `roles must alternate between "user" and "assistant", but found multiple "${message.role}" roles in a row`,
      );
    for (const block of message.blocks) before.blocks.push(block);
  }
  return turns;
}

function checkTurns(turns: readonly Message[]): void {
  if (turns[0]?.role !== 'user') throw refuseMessages('messages', 'first message must use the "user" role');
  const last = turns.at(-1);
  for (const turn of turns) {
    const isPrefill = turn === last && turn.role === 'assistant';
    if (turn.blocks.length === 0 && !isPrefill)
      throw refuseMessages(
        turn.path,
        'all messages must have non-empty content except for the optional final assistant message',
      );
    if (isPrefill && /\s$/.test(turn.blocks.at(-1)?.mention?.slice(-1) ?? ''))
      throw refuseMessages('messages', 'final assistant content cannot end with trailing whitespace');
  }
}

/** Every call is answered once, at the beginning of the next turn. Gives the names of all calls by id. */
function checkToolPairs(turns: readonly Message[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  let pending = new Set<string>();
  let pendingPath = '';
  for (const turn of turns) {
    const isAnswer = turn.role === 'user';
    for (const [index, { result, type }] of turn.blocks.entries()) {
      if (result === undefined) {
        if (isAnswer && type !== 'tool_result' && pending.size > 0) break;
        continue;
      }
      if (!isAnswer || !pending.delete(result.callId))
        throw refuseMessages(
          `${turn.path}.content.${index}`,
          `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${result.callId}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        );
    }
    if (pending.size > 0) throw unansweredRefusal(pendingPath, pending);
    pending = new Set();
    pendingPath = turn.path;
    for (const { call } of turn.blocks) {
      if (call === undefined) continue;
      if (turn.role !== 'assistant')
        throw refuseMessages(turn.path, '`tool_use` blocks can only be in `assistant` messages');
      if (names.has(call.id)) throw refuseMessages('messages', '`tool_use` ids must be unique');
      names.set(call.id, call.name);
      pending.add(call.id);
    }
  }
  if (pending.size > 0) throw unansweredRefusal(pendingPath, pending);
  return names;
}

function unansweredRefusal(path: string, pending: ReadonlySet<string>): Error {
  return refuseMessages(
    path,
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...pending].join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

function checkThinkingFirst(turns: readonly Message[]): void {
  const calling = turns.findLast(({ role }) => role === 'assistant');
  const first = calling?.blocks[0]?.type;
  if (calling === undefined || first === undefined || !calling.blocks.some(({ call }) => call !== undefined)) return;
  if (first !== 'thinking' && first !== 'redacted_thinking')
    throw refuseMessages(
      `${calling.path}.content.0.type`,
      `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
    );
}

function userTextOf(turns: readonly Message[]): string {
  const stating = turns.findLast(
    ({ role, blocks }) => role === 'user' && blocks.some(({ mention }) => mention !== undefined),
  );
  return stating?.blocks.flatMap(({ mention }) => mention ?? []).join('\n') ?? '';
}

function resultsOf(turn: Message, names: ReadonlyMap<string, string>): readonly ToolResult[] {
  return turn.blocks.flatMap(({ result }) =>
    result === undefined ? [] : [{ name: names.get(result.callId) ?? result.callId, text: result.text }],
  );
}
