import type { Block, Citation, ToolCallBlock } from '../../../canonical/blocks.ts';
import type { Warning } from '../../../canonical/extra.ts';
import type { Turn } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeAnnotation } from '../citations.ts';
import { decodeAudio, decodeImage } from '../assistant-media.ts';
import { decodePart } from './content.ts';
import { decodeCustomCall } from './custom-tools.ts';
import { asExtra, nestRest, restOf } from '../../extra.ts';
import { objectsOf } from '../../json-fields.ts';
import { LegacyCalls } from './legacy-functions.ts';
import type {
  ChatAssistantMessage,
  ChatContentPart,
  ChatFunctionMessage,
  ChatMessage,
  ChatToolCall,
} from './message-schema.ts';
import { decodeDetail } from '../reasoning-details.ts';

const MESSAGE_MEMBERS: ReadonlySet<string> = new Set(['role', 'content', 'name']);
const TOOL_MEMBERS: ReadonlySet<string> = new Set(['role', 'content', 'name', 'tool_call_id']);
const ASSISTANT_MEMBERS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'model',
  'tool_calls',
  'function_call',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'images',
  'audio',
  'annotations',
  'phase',
]);
const CALL_MEMBERS: ReadonlySet<string> = new Set(['id', 'type', 'function']);
const FUNCTION_MEMBERS: ReadonlySet<string> = new Set(['name', 'arguments']);

type Content = string | readonly ChatContentPart[];

interface DecodedMessages {
  readonly turns: readonly Turn[];
  readonly warnings: readonly Warning[];
}

/** One turn a message, in order. @spec chat-2, chat-3 */
export function decodeMessages(messages: readonly ChatMessage[]): DecodedMessages {
  const warnings: Warning[] = [];
  const legacy = new LegacyCalls();
  const turns = messages.map(
    (message, index) => decodeText(message) ?? decodeMessage(message, `messages[${index}]`, warnings, legacy),
  );
  return { turns, warnings };
}

/** A message with a text and nothing else, as most of a long conversation are; `undefined` for any other. */
function decodeText(message: ChatMessage): Turn | undefined {
  const { role, content } = message;
  if (typeof content !== 'string' || role === 'tool' || role === 'function') return undefined;
  for (const member in message) if (member !== 'role' && member !== 'content') return undefined;
  return { role, blocks: [{ type: 'text', text: content }], plain: true };
}

function decodeMessage(message: ChatMessage, path: string, warnings: Warning[], legacy: LegacyCalls): Turn {
  if (message.role === 'assistant') return decodeAssistant(message, path, warnings, legacy);
  if (message.role === 'function') return decodeFunctionResult(message, path, legacy);
  const { role, content, name } = message;
  if (Array.isArray(content)) warnOfDeprecatedParts(content, path, warnings);
  const plain = typeof content === 'string' ? ({ plain: true } as const) : {};
  if (role === 'tool') {
    if (name) warnings.push(ignored(`${path}.name`, 'a tool message has no name'));
    const result = {
      type: 'tool-result',
      callId: message.tool_call_id,
      content: decodeContent(content),
      ...plain,
    } as const;
    return { role, blocks: [result], ...asExtra('chat', restOf(message, TOOL_MEMBERS)) };
  }
  return {
    role,
    blocks: decodeContent(content),
    ...plain,
    ...(name && { name }),
    ...asExtra('chat', restOf(message, MESSAGE_MEMBERS)),
  };
}

function decodeFunctionResult(message: ChatFunctionMessage, path: string, legacy: LegacyCalls): Turn {
  const { content, name } = message;
  const result = {
    type: 'tool-result',
    callId: legacy.answer(name, path),
    content: decodeContent(content ?? ''),
    ...(!Array.isArray(content) && ({ plain: true } as const)),
  } as const;
  return { role: 'tool', blocks: [result], ...asExtra('chat', restOf(message, MESSAGE_MEMBERS)) };
}

function decodeContent(content: Content): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(decodePart);
}

function warnOfDeprecatedParts(parts: readonly ChatContentPart[], path: string, warnings: Warning[]): void {
  for (const [index, part] of parts.entries()) {
    if (part.type === 'input_video')
      warnings.push({
        code: 'field-changed',
        path: `${path}.content[${index}].type`,
        message: 'input_video is the deprecated spelling of video_url',
      });
  }
}

/** Blocks in the order in which a model makes them: reasoning, content, refusal, media, calls. */
function decodeAssistant(message: ChatAssistantMessage, path: string, warnings: Warning[], legacy: LegacyCalls): Turn {
  const { content, name, model, refusal } = message;
  if (message['phase'] !== undefined) warnings.push(ignored(`${path}.phase`, 'chat messages have no phase'));
  if (Array.isArray(content)) warnOfDeprecatedParts(content, path, warnings);
  const annotations = objectsOf(message.annotations);
  const texts = citeLastText(content === null || content === undefined ? [] : decodeContent(content), annotations);
  const blocks: Block[] = [
    ...decodeReasoning(message),
    ...texts.blocks,
    ...(refusal ? [{ type: 'refusal', text: refusal } as const] : []),
    ...objectsOf(message.images).map(decodeImage),
    ...objectsOf([message.audio]).map(decodeAudio),
    ...legacy.callsOf(message, path).map(decodeCall),
  ];
  const rest = nestRest(restOf(message, ASSISTANT_MEMBERS), 'annotations', texts.cited ? undefined : annotations);
  return {
    role: 'assistant',
    blocks,
    ...(typeof content === 'string' && { plain: true }),
    ...(name && { name }),
    ...(model && { model }),
    ...asExtra('chat', repeatedReasoning(message, rest)),
  };
}

/** Details hold more than plain text, which then only repeats them. @spec chat-15 */
function decodeReasoning(message: ChatAssistantMessage): readonly Block[] {
  const details = objectsOf(message.reasoning_details);
  if (details.length > 0) return details.map(decodeDetail);
  const carrier = message.reasoning ? 'reasoning' : 'reasoning_content';
  const text = message[carrier];
  return text ? [{ type: 'reasoning', form: 'text', text, carrier }] : [];
}

/** Keeps the members of the reasoning that no block was made of as extra fields of the turn. */
function repeatedReasoning(message: ChatAssistantMessage, rest: JsonObject | undefined): JsonObject | undefined {
  const { reasoning, reasoning_content: content } = message;
  const detailed = message.reasoning_details?.length ?? 0;
  let fields = rest;
  if (reasoning && detailed > 0) fields = { ...fields, reasoning };
  if (content && (reasoning || detailed > 0)) fields = { ...fields, reasoning_content: content };
  return fields;
}

/** Annotations stand on the message; their offsets count in its text, so they belong to its text. */
function citeLastText(
  blocks: readonly Block[],
  annotations: readonly JsonObject[],
): { readonly blocks: readonly Block[]; readonly cited: boolean } {
  const at = blocks.findLastIndex((block) => block.type === 'text');
  const text = blocks[at];
  if (annotations.length === 0) return { blocks, cited: true };
  if (text?.type !== 'text') return { blocks, cited: false };
  const citations: readonly Citation[] = annotations.map(decodeAnnotation);
  return { blocks: blocks.with(at, { ...text, citations }), cited: true };
}

function decodeCall(call: ChatToolCall): ToolCallBlock {
  if (call.type === 'custom') return decodeCustomCall(call);
  const rest = nestRest(restOf(call, CALL_MEMBERS), 'function', restOf(call.function, FUNCTION_MEMBERS));
  return {
    type: 'tool-call',
    id: call.id,
    name: call.function.name,
    input: call.function.arguments,
    runBy: 'caller',
    ...asExtra('chat', rest),
  };
}

function ignored(path: string, why: string): Warning {
  return { code: 'field-dropped', path, message: `ignored: ${why}` };
}
