import type { Block, ToolResultBlock } from '../../../canonical/blocks.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { GenerationRequest, Turn } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { normalizeTurns, type NormalizedTurn } from './normalize-turns.ts';
import { encodeAnnotations } from '../citations.ts';
import { encodeAudio, encodeImages, stoodBeside } from '../assistant-media.ts';
import { encodePart, describeMedia } from './content.ts';
import type { EncodeContext } from './encode-context.ts';
import { assistantFields, encodeReasoning } from './reasoning-history.ts';
import { fitMessages, moveResultFiles, plainBlocks } from './fit-messages.ts';
import { fieldsOf, withExtra } from '../../extra.ts';
import { pathOfConversation } from '../../gateway/source/source-paths.ts';
import { textOf } from '../../json-fields.ts';
import { refuseMediaInInstructions, unsupportedMedia } from '../../unsupported-media.ts';

type Content = string | null | readonly JsonObject[];

/** A caller of this format gets its messages through as they stand; others are adopted first. */
export function encodeMessages(request: GenerationRequest, context: EncodeContext): readonly JsonObject[] {
  const placed: readonly NormalizedTurn[] =
    request.format === 'chat'
      ? moveResultFiles(
          request.turns.map((turn, index) => ({ turn, path: `messages[${index}]` })),
          context,
        )
      : normalizeTurns(request, context);
  const messages = placed.flatMap((entry) => encodeTurn(entry, context));
  const sendable = request.format === 'chat' ? messages : messages.filter(isSendable);
  // Words of ours alone would be answered, and an empty list is the fault of the request. @spec request-39
  if (sendable.length === 0)
    throw invalid(
      pathOfConversation(request.format),
      'contains nothing that can be sent to the provider of the model',
      'invalid_prompt',
    );
  return fitMessages(sendable, context);
}

/** Mistral refuses a message of the assistant without anything in it, as thinking that the host has no member for leaves it. */
function isSendable(message: JsonObject): boolean {
  return message['role'] !== 'assistant' || message['content'] !== '' || Object.keys(message).length > 2;
}

function encodeTurn({ turn, path }: NormalizedTurn, context: EncodeContext): readonly JsonObject[] {
  if (turn.role === 'assistant') return [encodeAssistant(turn, path, context)];
  if (turn.role === 'tool')
    return turn.blocks.flatMap((block) =>
      block.type === 'tool-result' ? [encodeResult(block, turn, path, context)] : [],
    );
  const { dialect } = context.target;
  if (turn.role !== 'user')
    refuseMediaInInstructions(turn.blocks.map((block, at) => ({ block, path: `${path}.content[${at}]` })));
  const role = turn.role === 'developer' && dialect.developerRole !== true ? 'system' : turn.role;
  const content = encodeContent(turn.blocks, turn, path, context);
  return [withExtra({ role, ...emitName(turn, content ?? '', context) }, fieldsOf(turn, 'chat'))];
}

function encodeResult(block: ToolResultBlock, turn: Turn, path: string, context: EncodeContext): JsonObject {
  const content = encodeContent(block.content, { role: 'tool', plain: block.plain }, path, context) ?? '';
  const stated = block.failed === true ? prefixText(content, 'Error: ') : content;
  return withExtra({ role: 'tool', tool_call_id: block.callId, content: stated }, fieldsOf(turn, 'chat'));
}

/** Whose content it is, and whether it stood as one bare string. */
type Holder = Pick<Turn, 'role'> & { readonly plain?: true | undefined };

/** `null` when there is no content. Empty texts are dropped, unless they are all there is (@spec translate-9). */
function encodeContent(blocks: readonly Block[], holder: Holder, path: string, context: EncodeContext): Content {
  const [first] = blocks;
  if (first === undefined) return null;
  if (holder.plain === true && blocks.length === 1 && first.type === 'text') return first.text;
  if (!takesParts(blocks, holder, context)) return joinTexts(blocks, holder, path, context);
  const parts: JsonObject[] = [];
  for (const [index, block] of blocks.entries()) {
    const part = encodePart(block, context.target.dialect);
    if (part !== undefined) parts.push(part);
    else leaveOut(block, holder, `${path}.content[${index}]`, context);
  }
  if (parts.length === 0) return null;
  const filled = parts.filter((part) => part['text'] !== '');
  return filled.length === 0 ? parts.slice(0, 1) : filled;
}

/** @throws GatewayError 400 for a file that is not from the model */
function leaveOut(block: Block, { role }: Holder, path: string, context: EncodeContext): void {
  if (block.type === 'media' && role !== 'assistant') throw unsupportedMedia(path, describeMedia(block));
  context.warn('content-dropped', path, "the provider's format has no place for it here");
}

function takesParts(blocks: readonly Block[], { role }: Holder, { target }: EncodeContext): boolean {
  if (target.dialect.textParts !== false) return true;
  return role === 'user' && blocks.some((block) => block.type === 'media');
}

/** Where an upstream takes one string only. */
function joinTexts(blocks: readonly Block[], holder: Holder, path: string, context: EncodeContext): string {
  const texts: string[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block.type === 'text' || block.type === 'refusal') texts.push(block.text);
    else leaveOut(block, holder, `${path}.content[${index}]`, context);
  }
  return texts.filter((text) => text !== '').join('\n\n');
}

function withParts(parts: readonly JsonObject[], content: Content): Content {
  if (parts.length === 0) return content;
  if (typeof content === 'string' && content !== '') return [...parts, { type: 'text', text: content }];
  return Array.isArray(content) ? [...parts, ...content] : parts;
}

function withPrefix(prefix: string | undefined, content: Content): Content {
  return prefix === undefined ? content : prefixText(content ?? '', prefix);
}

/** The speaker's name in its own member, or before the text. @spec chat-6 */
function emitName(turn: Turn, content: Exclude<Content, null>, { target }: EncodeContext): JsonObject {
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
  const blocks = plainBlocks(turn.blocks, path, context);
  if (blocks.every(isBareText)) {
    const content = encodeContent(blocks, turn, path, context) ?? '';
    const said = { role: 'assistant', ...encodeAssistantTurn(turn, content, path, context) };
    return withExtra(said, assistantFields(turn, context));
  }
  const calls = encodeCalls(blocks);
  const refusal = blocks.map((block) => (block.type === 'refusal' && block.part !== true ? block.text : '')).join('');
  const images = encodeImages(blocks.filter((block) => block.type === 'media' && stoodBeside(block, 'images')));
  const audio = blocks.find((block) => block.type === 'media' && stoodBeside(block, 'audio'));
  const annotations = encodeAnnotations('chat', blocks, []);
  const reasoning = encodeReasoning(blocks, path, context);
  const stated = encodeContent(blocks.filter(isContent), turn, path, context);
  const content = withParts(reasoning.parts, withPrefix(reasoning.prefix, stated));
  const silent = content === null || content === '';
  const alone = calls.length === 0 && refusal === '' && images.length === 0 && audio === undefined;
  const own: JsonObject = {
    role: 'assistant',
    ...encodeAssistantTurn(turn, silent ? (alone ? '' : null) : content, path, context),
    ...(refusal !== '' && { refusal }),
    ...reasoning.members,
    ...(images.length > 0 && { images }),
    ...(audio?.type === 'media' && { audio: encodeAudio(audio) }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(annotations.length > 0 && { annotations }),
  };
  return withExtra(own, assistantFields(turn, context));
}

/** Needs no member of the message but its content, as most of a long conversation. */
function isBareText(block: Block): boolean {
  return block.type === 'text' && block.citations === undefined;
}

/** Without a text there is nothing that a name could stand before. */
function encodeAssistantTurn(turn: Turn, content: Content, path: string, context: EncodeContext): JsonObject {
  if (content !== null) return emitName(turn, content, context);
  if (turn.name === undefined) return { content };
  if (context.target.dialect.messageNames === true) return { content, name: turn.name };
  context.warn('field-dropped', `${path}.name`, 'the provider takes no names');
  return { content };
}

function isContent(block: Block): boolean {
  if (block.type === 'text' || (block.type === 'refusal' && block.part === true)) return true;
  return block.type === 'media' && !stoodBeside(block, 'images') && !stoodBeside(block, 'audio');
}

function encodeCalls(blocks: readonly Block[]): readonly JsonObject[] {
  const calls: JsonObject[] = [];
  for (const block of blocks) {
    if (block.type !== 'tool-call' || block.runBy !== 'caller') continue;
    const { id, name, input } = block;
    calls.push(withExtra({ id, type: 'function', function: { name, arguments: input } }, fieldsOf(block, 'chat')));
  }
  return calls;
}
