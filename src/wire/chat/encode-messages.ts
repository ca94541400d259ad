import type { Block, ToolResultBlock } from '../../canonical/blocks.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { adoptTurns, type PlacedTurn } from './adopt-turns.ts';
import { encodeAnnotations } from './annotations.ts';
import { encodeAudio, encodeImages, stoodBeside } from './answer-media.ts';
import { encodePart } from './content-parts.ts';
import type { EncodeContext } from './encode-context.ts';
import { fieldsOf, withExtra } from './extra.ts';
import { textOf } from './members.ts';
import { encodeDetail } from './reasoning-details.ts';

type Content = string | null | readonly JsonObject[];

/** A caller of this format gets its messages through as they stand; others are adopted first. */
export function encodeMessages(request: GenerationRequest, context: EncodeContext): readonly JsonObject[] {
  const placed: readonly PlacedTurn[] =
    request.format === 'chat'
      ? request.turns.map((turn, index) => ({ turn, path: `messages[${index}]` }))
      : adoptTurns(request.turns, context);
  return placed.flatMap((entry) => encodeTurn(entry, context));
}

function encodeTurn({ turn, path }: PlacedTurn, context: EncodeContext): readonly JsonObject[] {
  if (turn.role === 'assistant') return [encodeAssistant(turn, path, context)];
  if (turn.role === 'tool')
    return turn.blocks.flatMap((block) =>
      block.type === 'tool-result' ? [encodeResult(block, turn, path, context)] : [],
    );
  const { dialect } = context.target;
  const role = turn.role === 'developer' && dialect.developerRole !== true ? 'system' : turn.role;
  const content = encodeContent(turn.blocks, turn.plain === true, path, context);
  return [withExtra({ role, ...sayName(turn, content ?? '', context) }, fieldsOf(turn))];
}

function encodeResult(block: ToolResultBlock, turn: Turn, path: string, context: EncodeContext): JsonObject {
  const content = encodeContent(block.content, block.plain === true, path, context) ?? '';
  const said = block.failed === true ? prefixText(content, 'Error: ') : content;
  return withExtra({ role: 'tool', tool_call_id: block.callId, content: said }, fieldsOf(turn));
}

/** `null` when there is nothing to say. Empty texts go, unless they are all there is (pains.md 22). */
function encodeContent(blocks: readonly Block[], plain: boolean, path: string, context: EncodeContext): Content {
  const [first] = blocks;
  if (first === undefined) return null;
  if (plain && blocks.length === 1 && first.type === 'text') return first.text;
  const parts: JsonObject[] = [];
  for (const [index, block] of blocks.entries()) {
    const part = encodePart(block, context.target.dialect);
    if (part === undefined) context.warn('content-dropped', `${path}.content[${index}]`, 'no content part can say it');
    else parts.push(part);
  }
  const filled = parts.filter((part) => part['text'] !== '');
  return filled.length === 0 ? parts.slice(0, 1) : filled;
}

/** The speaker's name in its own member, or before the text. @source generation.md 1.1 `name` */
function sayName(turn: Turn, content: Exclude<Content, null>, { target }: EncodeContext): JsonObject {
  if (turn.name === undefined) return { content };
  if (target.dialect.messageNames === true) return { content, name: turn.name };
  return { content: prefixText(content, `${turn.name}: `) };
}

function prefixText(content: Exclude<Content, null>, prefix: string): Exclude<Content, null> {
  if (typeof content === 'string') return prefix + content;
  const at = content.findIndex((part) => part['type'] === 'text');
  const part = content[at];
  if (part === undefined) return [{ type: 'text', text: prefix.trimEnd() }, ...content];
  return content.with(at, { ...part, text: prefix + (textOf(part['text']) ?? '') });
}

function encodeAssistant(turn: Turn, path: string, context: EncodeContext): JsonObject {
  const { blocks } = turn;
  const calls = encodeCalls(blocks);
  const refusal = blocks.map((block) => (block.type === 'refusal' ? block.text : '')).join('');
  const images = encodeImages(blocks.filter((block) => block.type === 'media' && stoodBeside(block, 'images')));
  const audio = blocks.find((block) => block.type === 'media' && stoodBeside(block, 'audio'));
  const annotations = encodeAnnotations('chat', blocks, []);
  const content = encodeContent(blocks.filter(isContent), turn.plain === true, path, context);
  const silent = content === null || content === '';
  const alone = calls.length === 0 && refusal === '' && images.length === 0 && audio === undefined;
  const own: JsonObject = {
    role: 'assistant',
    ...sayAssistant(turn, silent ? (alone ? '' : null) : content, path, context),
    ...(refusal !== '' && { refusal }),
    ...encodeReasoning(blocks, path, context),
    ...(images.length > 0 && { images }),
    ...(audio?.type === 'media' && { audio: encodeAudio(audio) }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(annotations.length > 0 && { annotations }),
  };
  return withExtra(own, assistantFields(turn, context));
}

/** Without a text there is nothing that a name could stand before. */
function sayAssistant(turn: Turn, content: Content, path: string, context: EncodeContext): JsonObject {
  if (content !== null) return sayName(turn, content, context);
  if (turn.name === undefined) return { content };
  if (context.target.dialect.messageNames === true) return { content, name: turn.name };
  context.warn('field-dropped', `${path}.name`, 'the provider takes no names');
  return { content };
}

function isContent(block: Block): boolean {
  if (block.type === 'text') return true;
  return block.type === 'media' && !stoodBeside(block, 'images') && !stoodBeside(block, 'audio');
}

function encodeCalls(blocks: readonly Block[]): readonly JsonObject[] {
  const calls: JsonObject[] = [];
  for (const block of blocks) {
    if (block.type !== 'tool-call' || block.runBy !== 'caller') continue;
    const { id, name, input } = block;
    calls.push(withExtra({ id, type: 'function', function: { name, arguments: input } }, fieldsOf(block)));
  }
  return calls;
}

/** Repetitions of the reasoning go only where its own member goes. */
function assistantFields(turn: Turn, { target }: EncodeContext): JsonObject | undefined {
  const fields = fieldsOf(turn);
  const repeats = fields?.['reasoning'] !== undefined || fields?.['reasoning_content'] !== undefined;
  if (fields === undefined || !repeats || target.dialect.reasoningMember === 'reasoning_details') return fields;
  const { reasoning: _reasoning, reasoning_content: _content, ...others } = fields;
  return others;
}

/**
 * What an upstream takes back of earlier reasoning. The detailed member names who can read each entry, so all of them
 * go there; plain text members take only what anybody may read. @source generation.md 1.4 "Replay"
 */
function encodeReasoning(blocks: readonly Block[], path: string, context: EncodeContext): JsonObject {
  const reasoning = blocks.filter((block) => block.type === 'reasoning' || block.type === 'opaque');
  const member = context.target.dialect.reasoningMember;
  if (reasoning.length === 0) return {};
  if (member === 'reasoning_details') return encodeDetailed(reasoning, path, context);
  const texts = member === undefined ? [] : reasoning.flatMap(readableText);
  if (texts.length < reasoning.length)
    context.warn('content-dropped', `${path}.reasoning`, 'the provider does not take this reasoning back');
  return member === undefined || texts.length === 0 ? {} : { [member]: texts.join('') };
}

function encodeDetailed(reasoning: readonly Block[], path: string, context: EncodeContext): JsonObject {
  const members: Record<string, JsonObject[string]> = {};
  const details: JsonObject[] = [];
  for (const block of reasoning) {
    const carrier = block.type === 'reasoning' ? block.carrier : undefined;
    if (block.type === 'reasoning' && (carrier === 'reasoning' || carrier === 'reasoning_content')) {
      members[carrier] = block.text;
      continue;
    }
    const detail = encodeDetail(block);
    if (detail === undefined) context.warn('content-dropped', path, 'the provider does not take this block back');
    else details.push(detail);
  }
  return details.length === 0 ? members : { ...members, reasoning_details: details };
}

function readableText(block: Block): readonly string[] {
  const readable = block.type === 'reasoning' && block.form !== 'encrypted' && block.signature === undefined;
  return readable ? [block.text] : [];
}
