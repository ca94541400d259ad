import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';

/** What one request added to its conversation. */
export interface TurnItems {
  readonly input: readonly JsonObject[];
  readonly output: readonly JsonObject[];
  /** Providers whose encrypted content stands in items, by the id of the item: no other one can open it. */
  readonly origins?: JsonObject | undefined;
}

/** As `ResponseLink.items` holds it. */
export function serializeItems({ input, output, origins }: TurnItems): string {
  return JSON.stringify(origins === undefined ? [input, output] : [input, output, origins]);
}

/** @throws Error for a text that `serializeItems` did not make */
export function parseItems(text: string): TurnItems {
  const lists: Json = JSON.parse(text);
  if (!Array.isArray(lists)) throw new Error('The items of a kept response are two lists.');
  const [input, output, origins]: readonly Json[] = lists;
  return { input: objectsOf(input), output: objectsOf(output), ...(isJsonObject(origins) && { origins }) };
}

/** The objects of a list, which is empty where there is none. */
export function objectsOf(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

export function idOf({ id }: JsonObject): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** A call that the model did not finish: nothing can run it. What it said so far stays. */
export function isUnfinishedCall({ type, status }: JsonObject): boolean {
  return typeof type === 'string' && type.endsWith('_call') && (status === 'incomplete' || status === 'in_progress');
}

/** All texts of a response, joined. */
export function outputText(output: readonly JsonObject[]): string {
  const parts = output.flatMap(({ type, content }) => (type === 'message' ? objectsOf(content) : []));
  return parts.map(({ type, text }) => (type === 'output_text' && typeof text === 'string' ? text : '')).join('');
}

/** Status of background responses that have not ended. */
export function isUnderWay(status: string): boolean {
  return status === 'queued' || status === 'in_progress';
}
