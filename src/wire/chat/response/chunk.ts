import { isJsonObject, type Json, type JsonObject, hasFragileNumbers, parseKeepingNumbers } from '../../../lib/json.ts';
import { restOf } from '../../extra.ts';
import { itemsOf, objectOf } from '../../json-fields.ts';

/** Members that the gateway itself writes in every chunk and response, and padding. Other members pass through. */
export const CHUNK_MEMBERS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'error',
  'provider',
  'service_metadata',
  'debug',
  'system_fingerprint',
  'service_tier',
  'obfuscation',
  'p',
]);

/** The same for the first chunk, which also holds members that are the same in all of them. */
export const START_MEMBERS: ReadonlySet<string> = CHUNK_MEMBERS.difference(
  new Set(['created', 'system_fingerprint', 'service_tier']),
);

const CHOICE_MEMBERS: ReadonlySet<string> = new Set([
  'index',
  'delta',
  'message',
  'finish_reason',
  'native_finish_reason',
  'usage',
  'error',
]);

const DELTA_MEMBERS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'refusal',
  'tool_calls',
  'function_call',
  'images',
  'audio',
  'annotations',
]);

/** The response is choice 0: a gateway asks for no other (@spec request-15). */
export function firstChoice(choices: unknown): JsonObject | undefined {
  return itemsOf(choices).find(isFirst);
}

function isFirst(choice: unknown): choice is JsonObject {
  return isJsonObject(choice) && (choice['index'] ?? 0) === 0;
}

/**
 * Passthrough fields of a response's choice, log probabilities among them, and of the message in it. They keep the shape
 * of the chunk: `{choices: {logprobs, message: {...}}}`, with the one choice in place of the list.
 */
export function restOfChoice(choice: JsonObject, delta: JsonObject): JsonObject | undefined {
  const inDelta = restOf(delta, DELTA_MEMBERS);
  const inChoice = restOf(choice, CHOICE_MEMBERS);
  if (inDelta === undefined) return inChoice && { choices: inChoice };
  return { choices: { ...inChoice, message: inDelta } };
}

/** `function_call` is what came before `tool_calls`: one call, without index and id. */
export function toolCallsOf(delta: JsonObject): readonly unknown[] {
  const { tool_calls: calls, function_call: legacy } = delta;
  if (Array.isArray(calls)) return calls;
  return isJsonObject(legacy) ? [{ index: 0, function: legacy }] : [];
}

/** The error in a chunk or in place of one; `undefined` for a chunk of a response. */
export function errorOfChunk(chunk: JsonObject): Json | undefined {
  if (chunk['error'] !== undefined && chunk['error'] !== null) return chunk['error'];
  // vLLM: `{"object": "error", "message": ...}`; others leave the first member out.
  const instead =
    chunk['object'] === 'error' || (chunk['choices'] === undefined && typeof chunk['message'] === 'string');
  return instead ? chunk : undefined;
}

/**
 * The chunk again with numbers as they were written, where an upstream sends the arguments of calls as objects: they
 * become text, which must not turn `1.0` into `1`.
 */
export function keepArguments(chunk: JsonObject, text: string): JsonObject {
  const choice = firstChoice(chunk['choices']);
  const delta = choice?.['delta'] ?? choice?.['message'];
  if (!isJsonObject(delta) || !toolCallsOf(delta).some(hasObjectArguments) || !hasFragileNumbers(text)) return chunk;
  return objectOf(parseKeepingNumbers(text)) ?? chunk;
}

function hasObjectArguments(call: unknown): boolean {
  return isJsonObject(objectOf(objectOf(call)?.['function'])?.['arguments']);
}
