import type { Block, MediaBlock, ToolCallBlock, ToolResultBlock } from '../../../canonical/blocks.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { fieldsOf } from '../../extra.ts';
import type { Dialect } from '../../format.ts';
import { textOf } from '../../json-fields.ts';
import type { NormalizedTurn } from './normalize-turns.ts';
import type { EncodeContext } from './encode-context.ts';
import { fitToolIds } from './tool-ids.ts';
import { RESULT_FOLLOWS } from '../../gateway/tool-results/match-tool-results.ts';

/**
 * The turns with the files of results in a user message behind the results, for hosts that take only text there: "Image
 * URLs are only allowed for messages with role 'user'" (OpenHands#7700, 2025-04), and a model that takes more all the same
 * does not see it (openai/openai-openapi#523, 2026-02). @spec translate-4
 */
export function moveResultFiles(turns: readonly NormalizedTurn[], context: EncodeContext): readonly NormalizedTurn[] {
  const { plainMessages, textParts } = context.target.dialect;
  const isPlain = plainMessages === true || textParts === false;
  if (!isPlain || !turns.some(({ turn }) => turn.blocks.some(holdsFiles))) return turns;
  const names = new Map<string, string>();
  const moved: NormalizedTurn[] = [];
  let files: Block[] = [];
  let path = '';
  const flush = (): void => {
    if (files.length > 0) moved.push({ path, turn: { role: 'user', blocks: files } });
    files = [];
  };
  for (const entry of turns) {
    const { turn } = entry;
    for (const block of turn.blocks) if (block.type === 'tool-call') names.set(block.id, block.name);
    if (turn.role !== 'tool') {
      flush();
      moved.push(entry);
      continue;
    }
    path = entry.path;
    moved.push({ path, turn: { ...turn, blocks: turn.blocks.map(withoutFiles) } });
    for (const block of turn.blocks.filter(holdsFiles)) {
      context.warn('field-changed', `${path}.content`, 'the provider takes files of a result in a user message only');
      const label = `Files of the result of ${names.get(block.callId) ?? 'a call'} (${block.callId}):`;
      files.push({ type: 'text', text: label }, ...block.content.filter(isFile));
    }
  }
  flush();
  return moved;
}

function holdsFiles(block: Block): block is ToolResultBlock {
  return block.type === 'tool-result' && block.content.some(isFile);
}

function isFile(block: Block): block is MediaBlock {
  return block.type === 'media';
}

function withoutFiles(block: Block): Block {
  if (!holdsFiles(block)) return block;
  const content = block.content.filter((inner) => !isFile(inner));
  const reported: readonly Block[] = content.length === 0 ? [{ type: 'text', text: RESULT_FOLLOWS }] : content;
  return { ...block, content: reported };
}

/**
 * The blocks of an assistant message without those that only its own vendor takes: generated images, sound other than a
 * reference to it, sources, and Gemini's signatures on calls. @spec reasoning-20
 */
export function plainBlocks(blocks: readonly Block[], path: string, context: EncodeContext): readonly Block[] {
  if (context.target.dialect.plainMessages !== true) return blocks;
  const drop = (member: string): void =>
    context.warn('content-dropped', `${path}.${member}`, 'the provider takes none in a message of the assistant');
  let calls = 0;
  return blocks.flatMap((block): readonly Block[] => {
    if (block.type === 'media') {
      const reference = audioReference(block);
      if (reference === undefined) drop(block.media === 'audio' ? 'audio' : 'images');
      return reference === undefined ? [] : [reference];
    }
    if (block.type === 'text') {
      const { citations, ...text } = block;
      if (citations !== undefined && citations.length > 0) drop('annotations');
      return [text];
    }
    if (block.type === 'tool-call') return [withoutSignature(block, `${path}.tool_calls[${calls++}]`, context)];
    return [block];
  });
}

function audioReference(block: MediaBlock): MediaBlock | undefined {
  if (block.media !== 'audio') return undefined;
  if (block.source.type === 'file') return block;
  const beside = fieldsOf(block, 'chat')?.['audio'];
  const id = isJsonObject(beside) ? textOf(beside['id']) : undefined;
  const source = id === undefined ? undefined : ({ type: 'file', fileId: id } as const);
  return source && { type: 'media', media: 'audio', source, extra: { format: 'chat', fields: { audio: {} } } };
}

function withoutSignature(block: ToolCallBlock, path: string, context: EncodeContext): ToolCallBlock {
  const { extra, ...call } = block;
  if (extra?.format !== 'chat' || extra.fields['extra_content'] === undefined) return block;
  context.warn('field-dropped', `${path}.extra_content`, 'is not known to this provider');
  const { extra_content: _signature, ...fields } = extra.fields;
  return { ...call, extra: { format: 'chat', fields } };
}

/** The message between results and a user message, for hosts that demand a reply of the assistant to results. */
const REPLY_TO_RESULTS: JsonObject = { role: 'assistant', content: 'OK.' };

/** Messages as they are sent, with ids and in an order that the host takes. */
export function fitMessages(messages: readonly JsonObject[], context: EncodeContext): readonly JsonObject[] {
  const { callIds, repliesToResults, prefixMember } = context.target.dialect;
  const filled = fillReasoning(messages, context.target.dialect);
  const named = callIds === undefined ? filled : filled.map((message) => fitToolIds(message, callIds));
  const ordered =
    repliesToResults === true ? named.flatMap((message, at) => replyToResults(message, named[at - 1], context)) : named;
  return prefixMember === true ? markPrefix(ordered) : ordered;
}

/** Turns of other models, and of callers that keep no reasoning, have none that could come back. */
function fillReasoning(messages: readonly JsonObject[], dialect: Dialect): readonly JsonObject[] {
  const { reasoningMember: member, reasoningFiller: filler } = dialect;
  if (filler === undefined || member === undefined || member === 'none' || member === 'think_tags') return messages;
  return messages.map((message) =>
    message['role'] === 'assistant' && message[member] === undefined ? { ...message, [member]: filler } : message,
  );
}

function markPrefix(messages: readonly JsonObject[]): readonly JsonObject[] {
  const last = messages.at(-1);
  const isBeginning = last?.['role'] === 'assistant' && last['tool_calls'] === undefined;
  return isBeginning ? [...messages.slice(0, -1), { ...last, prefix: true }] : messages;
}

function replyToResults(
  message: JsonObject,
  before: JsonObject | undefined,
  context: EncodeContext,
): readonly JsonObject[] {
  if (message['role'] !== 'user' || before?.['role'] !== 'tool') return [message];
  context.warn('field-changed', 'messages', 'the provider wants results answered before the user speaks');
  return [REPLY_TO_RESULTS, message];
}
