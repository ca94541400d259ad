import { tokenCount } from '../../../canonical/usage.ts';
import { isJsonObject } from '../../../lib/json.ts';
import { eachItem, eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { errorOfEvent, parseError } from '../../upstream-error.ts';
import { base64At, isDataUrlAt } from '../base64-text.ts';
import type { DecodedImages, ImageAnswerFacts, ImageEvent, ImageTokens, RawPicture } from '../format.ts';

/** What is parsed of an answer: everything but its pictures. */
const PARSED: ReadonlySet<string> = new Set(['usage', 'created', 'created_at', 'quality', 'background', 'id', 'error']);
const PARSED_OF_EVENT: ReadonlySet<string> = new Set(['type', 'partial_image_index', 'code', 'message']);

/** Walks over the bytes once: pictures stay as they are, and only what stands beside them is parsed. */
export function decodeAnswer(bytes: Buffer): DecodedImages {
  let items: readonly Item[] | undefined;
  const small: Record<string, unknown> = {};
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) => {
    if (name === 'data') {
      const read = itemsAt(bytes, at);
      ({ items } = read);
      return read.end;
    }
    return PARSED.has(name) ? keep(bytes, name, at, small) : undefined;
  });
  const { error } = small;
  if (isJsonObject(error) || typeof error === 'string') return { error: parseError({ error }) };
  if (items === undefined) throw new NotThatJson();
  const pictures = items.flatMap(({ picture }) => picture ?? []);
  // Pictures that its moderation took away: docs.x.ai "Image Generation", read 2026-11.
  if (pictures.length === 0 && items.some(({ isModerated }) => isModerated))
    return { refused: 'The picture did not pass the moderation of the provider.' };
  const tokens = tokensOf(small['usage']);
  const { id } = small;
  return {
    pictures,
    facts: factsOf(small),
    ...(tokens !== undefined && { tokens }),
    ...(typeof id === 'string' && { id }),
  };
}

/** The event that its type names; those of edits and those of generations differ in the first word alone. */
export function decodeEvent(data: Buffer): ImageEvent | undefined {
  const start = skipSpaces(data, 0);
  // `[DONE]`, and whatever else is no object.
  if (data[start] !== 0x7b) return undefined;
  const small: Record<string, unknown> = {};
  let base64: Buffer | undefined;
  eachMember(data, start, (name, at) => {
    if (name === 'b64_json') {
      const read = base64At(data, at);
      ({ base64 } = read);
      return read.end;
    }
    return PARSED.has(name) || PARSED_OF_EVENT.has(name) ? keep(data, name, at, small) : undefined;
  });
  const error = errorOfEvent(small);
  if (error !== undefined) return { type: 'error', error };
  const { type } = small;
  if (typeof type !== 'string' || base64 === undefined) return undefined;
  const facts = factsOf(small);
  const index = tokenCount(small['partial_image_index']) ?? 0;
  if (type.endsWith('.partial_image')) return { type: 'partial', index, base64, facts };
  if (!type.endsWith('.completed')) return undefined;
  const tokens = tokensOf(small['usage']);
  return { type: 'completed', picture: { base64 }, facts, ...(tokens !== undefined && { tokens }) };
}

function keep(bytes: Buffer, name: string, at: number, into: Record<string, unknown>): number {
  const end = endOfValue(bytes, at);
  into[name] = valueAt(bytes, at, end);
  return end;
}

interface Item {
  readonly picture: RawPicture | undefined;
  readonly isModerated: boolean;
}

function itemsAt(bytes: Buffer, from: number): { readonly items: readonly Item[]; readonly end: number } {
  const items: Item[] = [];
  const end = eachItem(bytes, from, (_item, at) => {
    const read = itemAt(bytes, at);
    items.push(read.item);
    return read.end;
  });
  return { items, end };
}

function itemAt(bytes: Buffer, from: number): { readonly item: Item; readonly end: number } {
  let base64: Buffer | undefined;
  let url: unknown;
  let revised: unknown;
  let respects: unknown;
  const end = eachMember(bytes, from, (name, at) => {
    const isText = bytes[at] === 0x22;
    if (isText && (name === 'b64_json' || (name === 'url' && isDataUrlAt(bytes, at)))) {
      const read = base64At(bytes, at);
      ({ base64 } = read);
      return read.end;
    }
    if (name !== 'url' && name !== 'revised_prompt' && name !== 'respect_moderation') return undefined;
    const valueEnd = endOfValue(bytes, at);
    const value = valueAt(bytes, at, valueEnd);
    if (name === 'url') url = value;
    else if (name === 'revised_prompt') revised = value;
    else respects = value;
    return valueEnd;
  });
  const isModerated = respects === false;
  const words = typeof revised === 'string' && revised !== '' ? { revisedPrompt: revised } : {};
  if (isModerated) return { item: { picture: undefined, isModerated }, end };
  if (base64 !== undefined && base64.length > 0) return { item: { picture: { base64, ...words }, isModerated }, end };
  const picture = typeof url === 'string' && url !== '' ? { url, ...words } : undefined;
  return { item: { picture, isModerated }, end };
}

function factsOf(small: Readonly<Record<string, unknown>>): ImageAnswerFacts {
  const { quality, background } = small;
  const created = tokenCount(small['created'] ?? small['created_at']);
  return {
    // Seconds are larger than any count of tokens.
    ...(created === undefined ? secondsOf(small['created'] ?? small['created_at']) : { created }),
    ...(typeof quality === 'string' && { quality }),
    ...(typeof background === 'string' && { background }),
  };
}

function secondsOf(value: unknown): ImageAnswerFacts {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? { created: value } : {};
}

function tokensOf(usage: unknown): ImageTokens | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { input_tokens_details: inputs, output_tokens_details: outputs } = usage;
  const input = tokenCount(usage['input_tokens']);
  const output = tokenCount(usage['output_tokens']);
  const inputImages = isJsonObject(inputs) ? tokenCount(inputs['image_tokens']) : undefined;
  const outputImages = isJsonObject(outputs) ? tokenCount(outputs['image_tokens']) : undefined;
  if (input === undefined && output === undefined) return undefined;
  return {
    ...(input !== undefined && { input }),
    ...(inputImages !== undefined && { inputImages }),
    ...(output !== undefined && { output }),
    ...(outputImages !== undefined && { outputImages }),
  };
}
