import { isDeepStrictEqual } from 'node:util';
import type { MediaBlock } from '../../canonical/blocks.ts';
import type { McpResult } from '../../canonical/tools/mcp.ts';
import { parseJson, isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { failedOutcome, type ToolOutcome } from '../contract.ts';

/** Image types that all models with image input accept. */
const PICTURES: ReadonlySet<Json | undefined> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const BITS_PER_CHAR = 6;
const BITS_PER_BYTE = 8;

/**
 * The result of a call, as the model reads it and the caller sees it. Images are for the model only; other content that
 * is not text is described by type and size. @source modelcontextprotocol.io "Tools", read 2026-11: "Tool Result"
 */
export function formatResult({ content, structured, failed }: McpResult): ToolOutcome {
  const reported = content.filter((block) => !repeats(block, structured)).map(formatBlock);
  if (failed) return failedOutcome(wordsOf(content) ?? JSON.stringify(structured ?? reported));
  const result: JsonObject = { content: reported, ...(structured !== undefined && { structured_content: structured }) };
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

function formatBlock(block: JsonObject): JsonObject {
  const type = typeof block['type'] === 'string' ? block['type'] : 'unknown';
  switch (type) {
    case 'text':
      return { type: 'text', text: block['text'] ?? '' };
    case 'image':
    case 'audio':
      return { type, mime_type: block['mimeType'] ?? null, bytes: bytesOf(block['data']) };
    case 'resource':
      return formatResource(isJsonObject(block['resource']) ? block['resource'] : {});
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

function formatResource({ uri, mimeType, text, blob }: JsonObject): JsonObject {
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
