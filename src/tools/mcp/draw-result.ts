import { isDeepStrictEqual } from 'node:util';
import type { MediaBlock } from '../../canonical/blocks.ts';
import type { McpResult } from '../../canonical/mcp.ts';
import { parseJson, isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { failedOutcome, type ToolOutcome } from '../contract.ts';

/** Pictures that models take, whoever serves them. */
const PICTURES: ReadonlySet<Json | undefined> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const BITS_PER_CHAR = 6;
const BITS_PER_BYTE = 8;

/**
 * What a call came to, as the model reads it and the caller is told. Pictures are for the model alone; what else is no
 * text is told by its kind and size. @source modelcontextprotocol.io "Tools", read 2026-11: "Tool Result"
 */
export function drawResult({ content, structured, failed }: McpResult): ToolOutcome {
  const told = content.filter((block) => !repeats(block, structured)).map(drawBlock);
  if (failed) return failedOutcome(wordsOf(content) ?? JSON.stringify(structured ?? told));
  const result: JsonObject = { content: told, ...(structured !== undefined && { structured_content: structured }) };
  const pictures = content.flatMap(pictureOf);
  if (pictures.length === 0) return { result };
  return { result, modelReads: [{ type: 'text', text: JSON.stringify(result) }, ...pictures] };
}

/** Servers say structured content once more as text, for clients that know nothing else. */
function repeats({ type, text }: JsonObject, structured: Json | undefined): boolean {
  if (structured === undefined || type !== 'text' || typeof text !== 'string') return false;
  return isDeepStrictEqual(parseJson(text), structured);
}

function wordsOf(content: readonly JsonObject[]): string | undefined {
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  const words = texts.join('\n').trim();
  return words === '' ? undefined : words;
}

function drawBlock(block: JsonObject): JsonObject {
  const type = typeof block['type'] === 'string' ? block['type'] : 'unknown';
  switch (type) {
    case 'text':
      return { type: 'text', text: block['text'] ?? '' };
    case 'image':
    case 'audio':
      return { type, mime_type: block['mimeType'] ?? null, bytes: bytesOf(block['data']) };
    case 'resource':
      return drawResource(isJsonObject(block['resource']) ? block['resource'] : {});
    case 'resource_link': {
      const { uri, name, description, mimeType } = block;
      return {
        type: 'resource_link',
        uri: uri ?? '',
        name: name ?? '',
        ...(description !== undefined && { description }),
        ...(mimeType !== undefined && { mime_type: mimeType }),
      };
    }
    default:
      return { type };
  }
}

function drawResource({ uri, mimeType, text, blob }: JsonObject): JsonObject {
  return {
    type: 'resource',
    uri: uri ?? '',
    ...(mimeType !== undefined && { mime_type: mimeType }),
    ...(text === undefined ? { bytes: bytesOf(blob) } : { text }),
  };
}

/** Of base64, which ends with up to two `=`. */
function bytesOf(data: Json | undefined): number {
  if (typeof data !== 'string') return 0;
  const padding = data.slice(-2).replace(/^[^=]*/, '').length;
  return Math.floor(((data.length - padding) * BITS_PER_CHAR) / BITS_PER_BYTE);
}

function pictureOf(block: JsonObject): readonly MediaBlock[] {
  if (block['type'] === 'image') return picture(block['mimeType'], block['data']);
  const resource = block['type'] === 'resource' ? block['resource'] : undefined;
  return isJsonObject(resource) ? picture(resource['mimeType'], resource['blob']) : [];
}

function picture(mediaType: Json | undefined, data: Json | undefined): readonly MediaBlock[] {
  if (typeof mediaType !== 'string' || !PICTURES.has(mediaType) || typeof data !== 'string' || data === '') return [];
  return [{ type: 'media', media: 'image', source: { type: 'base64', mediaType, data } }];
}
