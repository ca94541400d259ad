import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { chatArray, chatObject, chatString, chatTypeRefusal, refuseChat } from './chat-members.ts';
import { MEDIA_TOKENS, mentionOf, mentionOfUrl } from '../media.ts';
import type { Conversation, Segment, ToolResult } from '../prompt.ts';
import { countTokens } from '../tokens.ts';

/** Reads `messages` of the chat format, and refuses what a strict vendor refuses. */
export function readChatConversation(messages: Json | undefined): Conversation {
  const segments: Segment[] = [];
  let userText = '';
  let toolResults: ToolResult[] = [];
  /** Calls of the last assistant message that have no result yet: id to name. */
  let pending = new Map<string, string>();
  for (const [index, item] of chatArray(messages, 'messages').entries()) {
    const param = `messages[${index}]`;
    const message = chatObject(item, param);
    const role = chatString(message['role'], `${param}.role`);
    if (role !== 'tool' && pending.size > 0) throw unansweredRefusal(pending);
    const parts = readParts(message, role, param);
    for (const part of parts) segments.push({ ...part.segment, place: `${role}:${part.segment.place}` });
    const text = parts.map((part) => part.mention).join('\n');
    if (role === 'tool') {
      toolResults.push({ name: takePending(pending, message, param), text });
      continue;
    }
    toolResults = [];
    if (role === 'user') userText = text;
    if (role === 'assistant') {
      pending = readCalls(message, param);
      segments.push(...callSegments(message));
    }
  }
  if (pending.size > 0) throw unansweredRefusal(pending);
  return { segments, userText, toolResults };
}

function takePending(pending: Map<string, string>, message: JsonObject, param: string): string {
  const id = chatString(message['tool_call_id'], `${param}.tool_call_id`);
  const name = pending.get(id);
  if (name === undefined)
    throw refuseChat(
      `${param}.role`,
      "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
    );
  pending.delete(id);
  return name;
}

function unansweredRefusal(pending: ReadonlyMap<string, string>): Error {
  const ids = [...pending.keys()].join(', ');
  return refuseChat(
    'messages',
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids}`,
  );
}

interface Part {
  readonly segment: Segment;
  /** What an echo says of it. */
  readonly mention: string;
}

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

function readParts(message: JsonObject, role: string, param: string): readonly Part[] {
  if (!ROLES.has(role))
    throw refuseChat(`${param}.role`, `Invalid value: '${role}'. Supported values are: ${[...ROLES].join(', ')}.`);
  if (message['name'] !== undefined) chatString(message['name'], `${param}.name`);
  const { content } = message;
  if (typeof content === 'string') return content === '' ? [] : [textPart(content, undefined)];
  if (content === undefined || content === null) {
    const hasOther = [message['tool_calls'], message['refusal'], message['audio']].some(
      (other) => other !== undefined && other !== null,
    );
    if (role === 'assistant' && hasOther) return [];
    throw chatTypeRefusal(`${param}.content`, 'a string or an array of objects', content);
  }
  if (!Array.isArray(content)) throw chatTypeRefusal(`${param}.content`, 'a string or an array of objects', content);
  return chatArray(content, `${param}.content`).map((part, index) =>
    readPart(chatObject(part, `${param}.content[${index}]`), role, `${param}.content[${index}]`),
  );
}

function readPart(part: JsonObject, role: string, param: string): Part {
  const type = chatString(part['type'], `${param}.type`);
  const allowed = PART_TYPES_OF_ROLE[role] ?? TEXT_ONLY;
  if (!allowed.has(type))
    throw refuseChat(`${param}.type`, `Invalid value: '${type}'. Supported values are: ${[...allowed].join(', ')}.`);
  const cache = readCacheMark(part, param);
  switch (type) {
    case 'text':
      return textPart(chatString(part['text'], `${param}.text`), cache);
    case 'refusal':
      return textPart(chatString(part['refusal'], `${param}.refusal`), cache);
    case 'image_url':
      return urlPart('image', chatObject(part['image_url'], `${param}.image_url`), `${param}.image_url.url`, cache);
    case 'video_url':
      return urlPart('video', chatObject(part['video_url'], `${param}.video_url`), `${param}.video_url.url`, cache);
    case 'input_audio':
      return audioPart(chatObject(part['input_audio'], `${param}.input_audio`), `${param}.input_audio`, cache);
    default:
      return filePart(chatObject(part['file'], `${param}.file`), `${param}.file`, cache);
  }
}

const TEXT_ONLY: ReadonlySet<string> = new Set(['text']);
const PART_TYPES_OF_ROLE: Readonly<Record<string, ReadonlySet<string>>> = {
  user: new Set(['text', 'image_url', 'input_audio', 'file', 'video_url']),
  assistant: new Set(['text', 'refusal']),
};

type Mark = Segment['cache'];

function textPart(text: string, cache: Mark): Part {
  return { segment: segmentOf('text', text, countTokens(text), cache), mention: text };
}

function mediaPart(kind: string, text: string, mention: string, cache: Mark): Part {
  return { segment: segmentOf(kind, text, MEDIA_TOKENS, cache), mention };
}

function urlPart(kind: 'image' | 'video', source: JsonObject, param: string, cache: Mark): Part {
  const url = chatString(source['url'], param);
  const mention = mentionOfUrl(kind, url);
  if (mention === undefined)
    throw refuseChat(param, `Invalid '${param}': expected a base64 data URL or an http(s) URL.`, 'invalid_image_url');
  return mediaPart(kind, url, mention, cache);
}

function audioPart(audio: JsonObject, param: string, cache: Mark): Part {
  const data = chatString(audio['data'], `${param}.data`);
  return mediaPart('audio', data, mentionOf('audio', chatString(audio['format'], `${param}.format`), data), cache);
}

function filePart(file: JsonObject, param: string, cache: Mark): Part {
  const id = file['file_id'];
  if (typeof id === 'string') return mediaPart('document', id, `[document ${id}]`, cache);
  const data = chatString(file['file_data'], `${param}.file_data`);
  const mention = mentionOfUrl('document', data);
  if (mention === undefined)
    throw refuseChat(`${param}.file_data`, `Invalid '${param}.file_data': expected a base64 data URL.`);
  return mediaPart('document', data, mention, cache);
}

/** `cache_control` as most hosts spell it, `prompt_cache_breakpoint` as OpenAI does. */
export function readCacheMark(node: JsonObject, param: string): Mark {
  if (isJsonObject(node['prompt_cache_breakpoint'])) return '5m';
  const mark = node['cache_control'];
  if (mark === undefined || mark === null) return undefined;
  const { type, ttl } = chatObject(mark, `${param}.cache_control`);
  if (type !== 'ephemeral' || (ttl !== undefined && ttl !== '5m' && ttl !== '1h'))
    throw refuseChat(
      `${param}.cache_control`,
      `Invalid '${param}.cache_control': expected type 'ephemeral' and ttl '5m' or '1h'.`,
    );
  return ttl ?? '5m';
}

/** Checks the calls of an assistant message. Gives id to name. */
function readCalls(message: JsonObject, param: string): Map<string, string> {
  const calls = new Map<string, string>();
  const list = message['tool_calls'];
  if (list === undefined || list === null) return calls;
  for (const [index, item] of chatArray(list, `${param}.tool_calls`).entries()) {
    const at = `${param}.tool_calls[${index}]`;
    const call = chatObject(item, at);
    const id = chatString(call['id'], `${at}.id`);
    if (call['type'] !== 'function') throw refuseChat(`${at}.type`, `Invalid value: expected 'function'.`);
    const named = chatObject(call['function'], `${at}.function`);
    chatString(named['arguments'], `${at}.function.arguments`);
    if (calls.has(id)) throw refuseChat(`${at}.id`, `Duplicate value for '${at}.id': '${id}'.`);
    calls.set(id, chatString(named['name'], `${at}.function.name`));
  }
  return calls;
}

function callSegments(message: JsonObject): readonly Segment[] {
  const list = message['tool_calls'];
  if (list === undefined || list === null) return [];
  const text = JSON.stringify(list);
  return [segmentOf('assistant:calls', text, countTokens(text), undefined)];
}

function segmentOf(place: string, text: string, tokens: number, cache: Mark): Segment {
  return { place, text, tokens, ...(cache !== undefined && { cache }) };
}
