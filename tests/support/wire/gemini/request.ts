import { parseJsonObject, type Json, type JsonObject } from '../../../../src/lib/json.ts';
import { objectOf, objectsOf } from '../../../../src/wire/json-fields.ts';
import { decodeChat } from '../chat/request.ts';
import type { EncodeTarget } from '../../../../src/wire/format.ts';
import { decode as decodeMessages } from '../messages/request.ts';
import type { GeminiFacts } from '../../../../src/wire/gemini/dialect.ts';
import { encodeRequest } from '../../../../src/wire/gemini/request/request.ts';

/** Test support: an endpoint of these facts. */
export function targetOf(gemini: GeminiFacts = {}, more: Partial<EncodeTarget> = {}): EncodeTarget {
  return { model: 'gemini-x', endUserId: 'hash-of-user', dialect: { gemini }, ...more };
}

/** Test support: a model that knows what the third generation knows. */
export const THIRD: EncodeTarget = targetOf({
  thinking: { by: 'level', levels: ['minimal', 'low', 'medium', 'high'], takesBudget: true },
  jsonSchema: true,
  jsonBesideTools: true,
  callIds: true,
  signedCalls: true,
  resultMedia: true,
  validatedCalls: true,
  refusesPenalties: true,
  refusesLogprobs: true,
  tierIn: 'body',
  youTube: true,
});

/** Test support: a model that knows none of it. */
export const SECOND: EncodeTarget = targetOf();

export interface Encoded {
  /** As the upstream reads it. */
  readonly body: JsonObject;
  readonly contents: readonly JsonObject[];
  /** Parts of all contents, in order. */
  readonly parts: readonly JsonObject[];
  readonly config: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  /** `code path`, in order. */
  readonly warnings: readonly string[];
  readonly toolNames: ReadonlyMap<string, string> | undefined;
}

const HELLO: readonly JsonObject[] = [{ role: 'user', content: 'Hello' }];

/** Test support: a chat caller's body as it goes out. */
export function encodeChat(body: JsonObject, target: EncodeTarget = THIRD): Encoded {
  return encoded(encodeRequest(decodeChat({ model: 'acme/one', messages: HELLO, ...body }), target));
}

/** Test support: a messages caller's body as it goes out. */
export function encodeOfMessages(body: JsonObject, target: EncodeTarget = THIRD): Encoded {
  const whole = { model: 'acme/one', max_tokens: 4_000, messages: HELLO, ...body };
  return encoded(encodeRequest(decodeMessages(whole), target));
}

export function encoded({ body, headers, warnings, toolNames }: ReturnType<typeof encodeRequest>): Encoded {
  const read = parseJsonObject(JSON.stringify(body)) ?? {};
  const contents = objectsOf(read['contents']);
  return {
    body: read,
    contents,
    parts: contents.flatMap(partsOf),
    config: objectOf(read['generationConfig']) ?? {},
    headers,
    warnings: warnings.map(({ code, path }) => `${code} ${path}`),
    toolNames,
  };
}

/** Test support: the parts of a content. */
export function partsOf(content: JsonObject | undefined): readonly JsonObject[] {
  return objectsOf(content?.['parts']);
}

/** Test support: `user`, `model`, `user`. */
export function rolesOf({ contents }: Encoded): readonly Json[] {
  return contents.map(({ role }) => role ?? null);
}

/** Test support: the definition of a function, as chat callers write it. */
export function tool(name: string, more: JsonObject = {}): JsonObject {
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  return { type: 'function', function: { name, description: `Does ${name}`, parameters, ...more } };
}

/** Test support: a call in a chat caller's history. */
export function pastCall(id: string, name: string, input: string, more: JsonObject = {}): JsonObject {
  return { id, type: 'function', function: { name, arguments: input }, ...more };
}
