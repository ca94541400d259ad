import type { Json, JsonObject } from '../../lib/json.ts';
import { looksLikeBase64, MEDIA_TOKENS, mentionOf, mentionOfUrl } from '../media.ts';
import { fieldArray, fieldObject, fieldString, refuseMessages } from './messages-members.ts';
import type { Segment } from '../prompt.ts';
import { isThinkingSigned } from '../signature.ts';
import { countTokens } from '../tokens.ts';

/** One content block of a message, checked. */
export interface ReadBlock {
  readonly type: string;
  readonly segment: Segment;
  /** What an echo says of it; absent for blocks that an echo passes over. */
  readonly mention?: string;
  /** Of `tool_use`. */
  readonly call?: { readonly id: string; readonly name: string };
  /** Of `tool_result`. */
  readonly result?: { readonly callId: string; readonly text: string };
}

/** Blocks that the vendor's own tools leave in a conversation: taken as they are. */
const VENDOR_BLOCKS: ReadonlySet<string> = new Set(
  `server_tool_use web_search_tool_result web_fetch_tool_result code_execution_tool_result
  bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result mcp_tool_use
  mcp_tool_result container_upload compaction advisor_tool_result tool_addition tool_removal tool_reference`.split(
    /\s+/,
  ),
);
const TOOL_ID = /^[a-zA-Z0-9_-]+$/;
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** Reads the blocks of one content, a bare string included. */
export function readBlocks(content: Json | undefined, path: string): readonly ReadBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [textBlock(content, path, undefined)];
  return fieldArray(content, path).map((item, index) =>
    readBlock(fieldObject(item, `${path}.${index}`), `${path}.${index}`),
  );
}

function readBlock(block: JsonObject, path: string): ReadBlock {
  const type = fieldString(block['type'], `${path}.type`);
  const cache = readCacheControl(block, path);
  switch (type) {
    case 'text':
      return textBlock(fieldString(block['text'], `${path}.text`), path, cache);
    case 'image':
      return imageBlock(fieldObject(block['source'], `${path}.source`), `${path}.source`, cache);
    case 'document':
      return documentBlock(fieldObject(block['source'], `${path}.source`), `${path}.source`, cache);
    case 'search_result':
      return searchResultBlock(block, path, cache);
    case 'tool_use':
      return toolUseBlock(block, path, cache);
    case 'tool_result':
      return toolResultBlock(block, path, cache);
    case 'thinking':
      return thinkingBlock(block, path);
    case 'redacted_thinking':
      return plainBlock(type, fieldString(block['data'], `${path}.data`), undefined);
    default:
      if (VENDOR_BLOCKS.has(type))
        return plainBlock(type, JSON.stringify({ ...block, cache_control: undefined }), cache);
      throw refuseMessages(
        path,
        `Input tag '${type.slice(0, 80)}' found using 'type' does not match any of the expected tags`,
      );
  }
}

type Mark = Segment['cache'];

/** `cache_control` of any node. The mark itself is no part of the prefix: it moves on with the conversation. */
export function readCacheControl(node: JsonObject, path: string): Mark {
  const mark = node['cache_control'];
  if (mark === undefined || mark === null) return undefined;
  const { type, ttl } = fieldObject(mark, `${path}.cache_control`);
  if (type !== 'ephemeral') throw refuseMessages(`${path}.cache_control.type`, "Input should be 'ephemeral'");
  if (ttl !== undefined && ttl !== '5m' && ttl !== '1h')
    throw refuseMessages(`${path}.cache_control.ttl`, "Input should be '5m' or '1h'");
  return ttl ?? '5m';
}

export function segmentOf(place: string, text: string, tokens: number, cache: Mark): Segment {
  return { place, text, tokens, ...(cache !== undefined && { cache }) };
}

function plainBlock(type: string, text: string, cache: Mark): ReadBlock {
  return { type, segment: segmentOf(type, text, countTokens(text), cache) };
}

function mediaBlock(type: string, text: string, mention: string, cache: Mark): ReadBlock {
  return { type, segment: segmentOf(type, text, MEDIA_TOKENS, cache), mention };
}

function textBlock(text: string, path: string, cache: Mark): ReadBlock {
  if (text === '' && cache !== undefined)
    throw refuseMessages(`${path}.cache_control`, 'cache_control cannot be set for empty text blocks');
  if (text === '') throw refuseMessages('messages', 'text content blocks must be non-empty');
  if (text.trim() === '') throw refuseMessages('messages', 'text content blocks must contain non-whitespace text');
  return { ...plainBlock('text', text, cache), mention: text };
}

function imageBlock(source: JsonObject, path: string, cache: Mark): ReadBlock {
  const type = fieldString(source['type'], `${path}.type`);
  if (type === 'file') return fileBlock('image', source, path, cache);
  if (type === 'url') return urlBlock('image', source, path, cache);
  if (type !== 'base64') throw sourceRefusal(path, type);
  const mediaType = fieldString(source['media_type'], `${path}.media_type`);
  if (!IMAGE_TYPES.has(mediaType))
    throw refuseMessages(
      `${path}.media_type`,
      `Input should be ${[...IMAGE_TYPES].map((name) => `'${name}'`).join(', ')}`,
    );
  return base64Block('image', mediaType, source, path, cache);
}

function documentBlock(source: JsonObject, path: string, cache: Mark): ReadBlock {
  const type = fieldString(source['type'], `${path}.type`);
  switch (type) {
    case 'file':
      return fileBlock('document', source, path, cache);
    case 'url':
      return urlBlock('document', source, path, cache);
    case 'base64': {
      const mediaType = fieldString(source['media_type'], `${path}.media_type`);
      if (mediaType !== 'application/pdf')
        throw refuseMessages(`${path}.media_type`, "Input should be 'application/pdf'");
      return base64Block('document', mediaType, source, path, cache);
    }
    case 'text': {
      const data = fieldString(source['data'], `${path}.data`);
      if (source['media_type'] !== 'text/plain')
        throw refuseMessages(`${path}.media_type`, "Input should be 'text/plain'");
      const mention = `[document text/plain ${Buffer.byteLength(data)} bytes]`;
      return { ...plainBlock('document', data, cache), mention };
    }
    case 'content': {
      const blocks = readBlocks(source['content'], `${path}.content`);
      const text = blocks.map(({ segment }) => segment.text).join('\n');
      return { ...plainBlock('document', text, cache), mention: `[document of ${blocks.length} blocks]` };
    }
    default:
      throw sourceRefusal(path, type);
  }
}

function base64Block(kind: string, mediaType: string, source: JsonObject, path: string, cache: Mark): ReadBlock {
  const data = fieldString(source['data'], `${path}.data`);
  if (!looksLikeBase64(data)) throw refuseMessages(`${path}.data`, 'Input should be valid base64');
  return mediaBlock(kind, data, mentionOf(kind, mediaType, data), cache);
}

function urlBlock(kind: string, source: JsonObject, path: string, cache: Mark): ReadBlock {
  const url = fieldString(source['url'], `${path}.url`);
  const mention = url.startsWith('data:') ? undefined : mentionOfUrl(kind, url);
  if (mention === undefined) throw refuseMessages(`${path}.url`, 'Input should be an http or https URL');
  return mediaBlock(kind, url, mention, cache);
}

function fileBlock(kind: string, source: JsonObject, path: string, cache: Mark): ReadBlock {
  const id = fieldString(source['file_id'], `${path}.file_id`);
  return mediaBlock(kind, id, `[${kind} ${id}]`, cache);
}

function sourceRefusal(path: string, type: string): Error {
  return refuseMessages(
    path,
    `Input tag '${type.slice(0, 80)}' found using 'type' does not match any of the expected tags`,
  );
}

function searchResultBlock(block: JsonObject, path: string, cache: Mark): ReadBlock {
  const source = fieldString(block['source'], `${path}.source`);
  fieldString(block['title'], `${path}.title`);
  const text = readBlocks(block['content'], `${path}.content`)
    .map(({ segment }) => segment.text)
    .join('\n');
  return { ...plainBlock('search_result', text, cache), mention: `[search_result ${source}]` };
}

function toolUseBlock(block: JsonObject, path: string, cache: Mark): ReadBlock {
  const id = fieldString(block['id'], `${path}.id`);
  if (!TOOL_ID.test(id)) throw refuseMessages(`${path}.tool_use.id`, `String should match pattern '^[a-zA-Z0-9_-]+$'`);
  const name = fieldString(block['name'], `${path}.name`);
  const input = fieldObject(block['input'], `${path}.tool_use.input`);
  return { ...plainBlock('tool_use', `${name} ${JSON.stringify(input)}`, cache), call: { id, name } };
}

function toolResultBlock(block: JsonObject, path: string, cache: Mark): ReadBlock {
  const callId = fieldString(block['tool_use_id'], `${path}.tool_use_id`);
  const content = block['content'] ?? [];
  const inner = readBlocks(content, `${path}.content`);
  const text = inner.map(({ mention, segment }) => mention ?? segment.text).join('\n');
  const tokens = inner.reduce((sum, { segment }) => sum + segment.tokens, 0);
  const hashed = inner.map(({ segment }) => segment.text).join('\n');
  return { type: 'tool_result', segment: segmentOf('tool_result', hashed, tokens, cache), result: { callId, text } };
}

/** Replayed thinking must be what the sandbox signed. */
function thinkingBlock(block: JsonObject, path: string): ReadBlock {
  if (block['cache_control'] !== undefined && block['cache_control'] !== null)
    throw refuseMessages(`${path}.thinking.cache_control`, 'Extra inputs are not permitted');
  const thinking = fieldString(block['thinking'], `${path}.thinking.thinking`);
  const signature = fieldString(block['signature'], `${path}.thinking.signature`);
  if (!isThinkingSigned(thinking, signature)) throw refuseMessages(path, 'Invalid `signature` in `thinking` block');
  return plainBlock('thinking', thinking, undefined);
}
