import type { Block, ReasoningFamily, TextBlock } from '../../../canonical/blocks.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import type { Dialect } from '../../format.ts';
import { decodeCitation } from '../citations.ts';
import { decodeRedacted } from '../redacted-content.ts';
import { objectAt, objectsOf, textOf } from '../../json-fields.ts';

/** Of all models behind this format only Claude signs its reasoning. @spec reasoning-16 */
export const CLAUDE_FAMILY: ReasoningFamily = 'anthropic-claude-v1';

/** The family of a response's reasoning. An unknown model may be a Claude, for which a signature counts. */
export function familyOf(dialect: Dialect | undefined): ReasoningFamily {
  return dialect?.converse === undefined || dialect.converse.claude === true ? CLAUDE_FAMILY : 'unknown';
}

/**
 * Decodes a content block of a whole response. Tools that the provider runs are calls of `upstream`, so that no caller has
 * to run them; their results, and unknown kinds, are opaque. `undefined` for an empty block: gpt-oss begins its responses
 * with an empty text.
 * @source AWS SDK `ContentBlock`, 3.1162 (2026-11)
 */
export function decodeBlock(block: JsonObject, family: ReasoningFamily): Block | undefined {
  const { text, toolUse, reasoningContent, citationsContent, image } = block;
  if (typeof text === 'string') return text === '' ? undefined : { type: 'text', text };
  if (isJsonObject(toolUse)) return decodeCall(toolUse, JSON.stringify(toolUse['input'] ?? {}));
  if (isJsonObject(reasoningContent)) return decodeReasoning(reasoningContent, family);
  if (isJsonObject(citationsContent)) return decodeCitedText(citationsContent);
  const picture = isJsonObject(image) ? decodeImage(image) : undefined;
  return picture ?? { type: 'opaque', format: 'converse', value: block };
}

/** @param input JSON text; `''` when a stream is still to bring it */
export function decodeCall(toolUse: JsonObject, input: string): Block {
  return {
    type: 'tool-call',
    id: textOf(toolUse['toolUseId']) ?? '',
    name: textOf(toolUse['name']) ?? '',
    input,
    runBy: toolUse['type'] === 'server_tool_use' ? 'upstream' : 'caller',
  };
}

function decodeReasoning(reasoning: JsonObject, family: ReasoningFamily): Block | undefined {
  const blob = textOf(reasoning['redactedContent']);
  if (blob !== undefined) return { type: 'reasoning', form: 'encrypted', text: decodeRedacted(blob), family };
  const shown = objectAt(reasoning, 'reasoningText');
  const text = textOf(shown['text']) ?? '';
  const signature = textOf(shown['signature']) ?? '';
  if (text === '' && signature === '') return undefined;
  return { type: 'reasoning', form: 'text', text, ...(signature !== '' && { signature }), family };
}

function decodeCitedText(cited: JsonObject): TextBlock | undefined {
  const text = objectsOf(cited['content'])
    .map((part) => textOf(part['text']) ?? '')
    .join('');
  const citations = objectsOf(cited['citations']).map(decodeCitation);
  if (text === '' && citations.length === 0) return undefined;
  return { type: 'text', text, ...(citations.length > 0 && { citations }) };
}

function decodeImage(image: JsonObject): Block | undefined {
  const data = textOf(objectAt(image, 'source')['bytes']);
  if (data === undefined) return undefined;
  const mediaType = `image/${textOf(image['format']) ?? 'png'}`;
  return { type: 'media', media: 'image', source: { type: 'base64', mediaType, data } };
}
