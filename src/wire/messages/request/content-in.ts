import type {
  Block,
  CacheBreakpoint,
  MediaSource,
  ReasoningBlock,
  ToolResultBlock,
} from '../../../canonical/blocks.ts';
import type { Extra } from '../../../canonical/extra.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { decodeCitations } from '../citations.ts';
import { isOwnFamily, openSeal } from '../reasoning-seal.ts';
import { textOf } from '../../json-fields.ts';
import { extraOf } from '../extra.ts';

const CACHE_MEMBERS = new Set(['type', 'ttl']);
const SOURCE_MEMBERS = new Set(['type', 'media_type', 'data', 'url', 'file_id', 'content']);
const NESTED = { cache_control: CACHE_MEMBERS, source: SOURCE_MEMBERS };

const TEXT_MEMBERS = new Set(['type', 'text', 'citations', 'cache_control']);
const IMAGE_MEMBERS = new Set(['type', 'source', 'cache_control']);
const DOCUMENT_MEMBERS = new Set(['type', 'source', 'title', 'context', 'cache_control']);
const TOOL_USE_MEMBERS = new Set(['type', 'id', 'name', 'input', 'cache_control']);
const TOOL_RESULT_MEMBERS = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']);
const THINKING_MEMBERS = new Set(['type', 'thinking', 'signature']);
const REDACTED_MEMBERS = new Set(['type', 'data']);

/** Reads a `cache_control` that the schema has accepted. */
export function decodeCacheControl(value: Json | undefined): { readonly cache?: CacheBreakpoint } {
  if (!isJsonObject(value)) return {};
  const ttl = value['ttl'];
  return { cache: { kind: 'ephemeral', ...((ttl === '5m' || ttl === '1h') && { ttl }) } };
}

/** A bare string stands for one text block. */
export function decodeContent(content: Json | undefined): {
  readonly blocks: readonly Block[];
  readonly plain?: true;
} {
  if (typeof content === 'string') return { blocks: [{ type: 'text', text: content }], plain: true };
  return { blocks: Array.isArray(content) ? content.filter(isJsonObject).map(decodeBlock) : [] };
}

/** Reads a content block that the schema has accepted. */
function decodeBlock(block: JsonObject): Block {
  switch (textOf(block['type']) ?? '') {
    case 'text':
      return decodeText(block);
    case 'image':
      return { type: 'media', media: 'image', source: decodeSource(block['source']), ...marksOf(block, IMAGE_MEMBERS) };
    case 'document':
      return decodeDocument(block);
    case 'tool_use':
    case 'server_tool_use':
      return {
        type: 'tool-call',
        id: textOf(block['id']) ?? '',
        name: textOf(block['name']) ?? '',
        input: JSON.stringify(block['input'] ?? {}),
        runBy: block['type'] === 'tool_use' ? 'caller' : 'upstream',
        ...marksOf(block, TOOL_USE_MEMBERS),
      };
    case 'tool_result':
      return decodeToolResult(block);
    case 'thinking':
      return { ...decodeThinking(block), ...extraOf(block, THINKING_MEMBERS) };
    case 'redacted_thinking': {
      const { isSummary: _none, ...sealed } = openSeal(textOf(block['data']) ?? '');
      return { type: 'reasoning', form: 'encrypted', ...sealed, ...extraOf(block, REDACTED_MEMBERS) };
    }
    default:
      return decodeOpaque(block);
  }
}

function decodeText(block: JsonObject): Block {
  const citations = decodeCitations(block['citations']);
  return {
    type: 'text',
    text: textOf(block['text']) ?? '',
    ...(citations && { citations }),
    ...marksOf(block, TEXT_MEMBERS),
  };
}

function decodeThinking(block: JsonObject): ReasoningBlock {
  const { isSummary, text: signature, ...sealed } = openSeal(textOf(block['signature']) ?? '');
  return {
    type: 'reasoning',
    form: isSummary ? 'summary' : 'text',
    text: textOf(block['thinking']) ?? '',
    // A caller's own block goes on as it stands, also with nothing there.
    ...((signature !== '' || isOwnFamily(sealed.family)) && { signature }),
    ...sealed,
  };
}

function decodeDocument(block: JsonObject): Block {
  const name = textOf(block['title']);
  const context = textOf(block['context']);
  return {
    type: 'media',
    media: 'document',
    source: decodeSource(block['source']),
    ...(name !== undefined && { name }),
    ...(context !== undefined && { context }),
    ...marksOf(block, DOCUMENT_MEMBERS),
  };
}

function decodeSource(source: Json | undefined): MediaSource {
  const given = isJsonObject(source) ? source : {};
  const mediaType = textOf(given['media_type']) ?? '';
  switch (textOf(given['type']) ?? '') {
    case 'base64':
      return { type: 'base64', mediaType, data: textOf(given['data']) ?? '' };
    case 'text':
      return { type: 'text', mediaType, text: textOf(given['data']) ?? '' };
    case 'content':
      return { type: 'blocks', ...decodeContent(given['content']) };
    case 'file':
      return { type: 'file', fileId: textOf(given['file_id']) ?? '' };
    default:
      return { type: 'url', url: textOf(given['url']) ?? '' };
  }
}

function decodeToolResult(block: JsonObject): ToolResultBlock {
  const { blocks, plain } = decodeContent(block['content'] ?? []);
  const failed = block['is_error'];
  const marks = marksOf(block, TOOL_RESULT_MEMBERS);
  // An empty list and no content at all mean the same; only the extra remembers which it was.
  const emptyList = Array.isArray(block['content']) && blocks.length === 0;
  return {
    type: 'tool-result',
    callId: textOf(block['tool_use_id']) ?? '',
    content: blocks,
    ...(plain && { plain }),
    ...(typeof failed === 'boolean' && { failed }),
    ...marks,
    ...(emptyList && { extra: { format: 'messages', fields: { ...marks.extra?.fields, content: [] } } }),
  };
}

function decodeOpaque(block: JsonObject): Block {
  const words = plainTextOf(block);
  if (block['cache_control'] === undefined)
    return { type: 'opaque', format: 'messages', value: block, ...(words !== undefined && { plainText: words }) };
  const { cache_control: mark, ...value } = block;
  const nested = isJsonObject(mark) ? extraOf({ cache_control: mark }, new Set(['cache_control']), NESTED) : {};
  return {
    type: 'opaque',
    format: 'messages',
    value,
    ...(words !== undefined && { plainText: words }),
    ...decodeCacheControl(mark),
    ...nested,
  };
}

/**
 * A search result is what the response shall rest on: a model of another format is to read it, too. So is what a search of
 * tools has found, which is offered to it at once.
 */
function plainTextOf(block: JsonObject): string | undefined {
  if (block['type'] === 'tool_reference') return `The tool ${textOf(block['tool_name']) ?? ''} can be called now.`;
  if (block['type'] !== 'search_result' || !Array.isArray(block['content'])) return undefined;
  const texts = block['content'].flatMap((part) => (isJsonObject(part) ? (textOf(part['text']) ?? []) : []));
  const attribute = (name: string): string => `${name}="${(textOf(block[name]) ?? '').replaceAll('"', "'")}"`;
  return `<search_result ${attribute('title')} ${attribute('source')}>\n${texts.join('\n\n')}\n</search_result>`;
}

function marksOf(
  block: JsonObject,
  known: ReadonlySet<string>,
): { readonly cache?: CacheBreakpoint; readonly extra?: Extra } {
  return { ...decodeCacheControl(block['cache_control']), ...extraOf(block, known, NESTED) };
}
