import { parseJsonObject, type JsonObject } from '../lib/json.ts';
import type { ResponseOwner, ResponseRow } from '../state/contract.ts';
import { textOf } from '../wire/json-fields.ts';
import { idOf, objectsOf, outputText, parseItems, serializeItems } from './items.ts';
import { originsOf, type KnownOrigins } from './origins.ts';

/** What is known of a response before it has ended. */
export interface ResponseOrigin {
  readonly owner: ResponseOwner;
  readonly createdAtMs: number;
  readonly parentId: string | null;
  /** The items of its request. */
  readonly input: readonly JsonObject[];
}

/** A response as it is kept. */
export function endedRow(
  { input, ...origin }: ResponseOrigin,
  { output: list, output_text: _text, ...object }: JsonObject,
  known: KnownOrigins,
): ResponseRow {
  const output = objectsOf(list);
  const origins = originsOf({ input, output }, origin.owner, known);
  return {
    ...origin,
    id: textOf(object['id']) ?? '',
    status: textOf(object['status']) ?? '',
    itemIds: [...new Set([...input, ...output].flatMap((item) => idOf(item) ?? []))],
    items: serializeItems({ input, output, origins }),
    object: JSON.stringify(object),
  };
}

/** The response as its caller got it, with `output_text`. */
export function responseOf({ object, items }: Pick<ResponseRow, 'object' | 'items'>): JsonObject {
  const { output } = parseItems(items);
  return { ...parseJsonObject(object), output, output_text: outputText(output) };
}
