import type { OpaqueBlock, Block } from '../../canonical/blocks.ts';
import {
  type ServerCall,
  type ToolErrorCode,
  MCP_FUNCTION_PREFIX,
  type ReplayedServerCall,
} from '../../canonical/tools/server-call.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { objectsOf, textOf } from '../json-fields.ts';
import { randomText } from '../../lib/ids.ts';
import type { ServerCallCodec } from '../format.ts';
import { modelCallId, shownCallId } from '../gateway/server-tool-results.ts';
import { callIdOfResult } from './request/orphan-server-tools.ts';

/** Encodes the result of one kind of server tool as a block of this format, and decodes it again. */
interface ResultKind {
  /** Type of the block. */
  readonly block: string;
  /** Type of its content where the call failed; absent: the content is the result, whatever it holds. */
  readonly error?: string;
  encode(result: Json): Json;
  /** What the model read, of the content. */
  read(content: Json): Json;
}

const AS_IS: Pick<ResultKind, 'encode' | 'read'> = {
  encode: (result) => (isJsonObject(result) ? result : { result }),
  read: (content) => content,
};

/** @spec tool-20; of what it does not list, the block is named like those of `bash` and `shell` */
const KINDS: Readonly<Record<string, ResultKind>> = {
  'service:web_search': {
    block: 'web_search_tool_result',
    error: 'web_search_tool_result_error',
    encode: (result) => objectsOf(result).map(encodeHit),
    read: (content) => objectsOf(content).map(decodeHit),
  },
  'service:web_fetch': {
    block: 'web_fetch_tool_result',
    error: 'web_fetch_tool_result_error',
    encode: (result) => encodePage(isJsonObject(result) ? result : {}),
    read: (content) => decodePage(isJsonObject(content) ? content : {}),
  },
  'service:tool_search': {
    block: 'tool_search_tool_result',
    error: 'tool_search_tool_result_error',
    encode: (result) => ({
      type: 'tool_search_tool_search_result',
      tool_references: namesIn(result, 'tools').map((name) => ({ type: 'tool_reference', tool_name: name })),
    }),
    read: (content) => ({
      tools: isJsonObject(content)
        ? objectsOf(content['tool_references']).map((reference) => reference['tool_name'] ?? '')
        : [],
    }),
  },
  'service:advisor': {
    block: 'advisor_tool_result',
    encode: (result) =>
      isJsonObject(result) && result['status'] === 'ok'
        ? { type: 'advisor_result', text: textOf(result['advice']) ?? '', model: result['model'] ?? null }
        : AS_IS.encode(result),
    read: (content) =>
      isJsonObject(content) && content['type'] === 'advisor_result'
        ? { status: 'ok', model: content['model'] ?? null, advice: content['text'] ?? '' }
        : content,
  },
};

const ERROR_DEFAULT: ToolErrorCode = 'unavailable';

/** @spec tool-20: the result stands in a block of its own, after the call */
export function encodeServerResult(call: ServerCall): OpaqueBlock {
  const kind = kindOf(call.type);
  const { errorCode = ERROR_DEFAULT } = call;
  const content =
    call.errorCode !== undefined && kind.error !== undefined
      ? { type: kind.error, error_code: errorCode, error_message: messageOf(call.result), ...addressIn(call.result) }
      : kind.encode(call.result);
  const value = { type: kind.block, tool_use_id: call.shownId, caller: { type: 'direct' }, content };
  return { type: 'opaque', format: 'messages', value };
}

/** What the model read, as it read it: its prompt cache goes by the bytes. */
export function decodeServerResult(block: JsonObject): { readonly text: string; readonly failed: boolean } {
  const type = textOf(block['type']) ?? '';
  const content = block['content'] ?? {};
  const kind = Object.values(KINDS).find((one) => one.block === type) ?? AS_IS;
  if (isJsonObject(content) && textOf(content['error_code']) !== undefined)
    return { text: JSON.stringify(decodeError(content)), failed: true };
  return { text: JSON.stringify(kind.read(content)), failed: isFailed(content) };
}

/** The error of a page that could not be fetched, with its address. @spec web-22 */
function decodeError({ error_message: message, ...content }: JsonObject): JsonObject {
  const address = addressIn(content);
  const status = address.url === undefined ? 'error' : 'failed';
  return { ...address, status, error: message ?? '' };
}

function addressIn(result: Json): { readonly url?: string } {
  const url = isJsonObject(result) ? textOf(result['url']) : undefined;
  return url === undefined ? {} : { url };
}

/** Tools that have no `status` have a result or an error. @spec tool-32 */
function isFailed(content: Json): boolean {
  if (!isJsonObject(content)) return false;
  const { status, error, result } = content;
  return status === undefined ? typeof error === 'string' && result === undefined : status === 'error';
}

function kindOf(type: string): ResultKind {
  const known = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  return known ?? { block: `${type.replaceAll(':', '_')}_tool_result`, ...AS_IS };
}

/** The text of a page stands where a vendor keeps it sealed, so that it comes back with the conversation. */
function encodeHit(hit: JsonObject): JsonObject {
  return {
    type: 'web_search_result',
    url: hit['url'] ?? '',
    title: hit['title'] ?? '',
    encrypted_content: textOf(hit['content']) ?? '',
    page_age: hit['page_age'] ?? null,
  };
}

function decodeHit({ url, title, encrypted_content: content, page_age: age }: JsonObject): JsonObject {
  const hit = { url: url ?? '', title: title ?? '', content: content ?? '' };
  return age === undefined || age === null ? hit : { ...hit, page_age: age };
}

function encodePage(page: JsonObject): JsonObject {
  return {
    type: 'web_fetch_result',
    url: page['url'] ?? '',
    retrieved_at: page['retrieved_at'] ?? null,
    content: {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: textOf(page['content']) ?? '' },
      title: page['title'] ?? null,
      citations: null,
    },
    ...(page['truncated'] === true && { truncated: true }),
  };
}

function decodePage({ url, retrieved_at: retrievedAt, content, truncated }: JsonObject): JsonObject {
  const document = isJsonObject(content) ? content : {};
  const source = isJsonObject(document['source']) ? document['source'] : {};
  return {
    url: url ?? '',
    title: document['title'] ?? '',
    content: source['data'] ?? '',
    status: 'completed',
    retrieved_at: retrievedAt ?? null,
    ...(truncated === true && { truncated }),
  };
}

function namesIn(value: Json, member: string): readonly string[] {
  const list = isJsonObject(value) ? value[member] : undefined;
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
}

function messageOf(result: Json): string {
  const stated = isJsonObject(result) ? result['error'] : undefined;
  return typeof stated === 'string' ? stated : '';
}

const RANDOM_CHARS = 20;
const FUNCTION_PREFIX = 'service_';

/**
 * Encodes a server tool that ran as `server_tool_use` and the block of its result, as a vendor does with its own tools.
 * @spec tool-20
 */
export const messagesServerCalls: ServerCallCodec = {
  shownId: (id, ordinal) => shownCallId(id, ordinal, () => randomText(RANDOM_CHARS)),
  shownName: (_type, name) => (name.startsWith(FUNCTION_PREFIX) ? name.slice(FUNCTION_PREFIX.length) : name),
  encode: encodeServerResult,
  decode: decodeBlock,
};

function decodeBlock(block: Block): ReplayedServerCall | undefined {
  if (block.type === 'tool-call') {
    const id = block.runBy === 'upstream' ? modelCallId(block.id) : undefined;
    return id === undefined ? undefined : { id, call: { name: functionOf(block.name), input: block.input } };
  }
  if (block.type !== 'opaque' || block.format !== 'messages') return undefined;
  const id = modelCallId(callIdOfResult(block));
  return id === undefined ? undefined : { id, result: decodeServerResult(block.value) };
}

/** What was shown without its prefix had one, but for the functions of MCP servers. */
function functionOf(shown: string): string {
  return shown.startsWith(MCP_FUNCTION_PREFIX) ? shown : FUNCTION_PREFIX + shown;
}
