import { parseJsonObject, type Json, type JsonObject } from '../../../../src/lib/json.ts';
import { objectOf, objectsOf } from '../../../../src/wire/json-fields.ts';
import { decodeChat } from '../chat/request.ts';
import type { EncodeTarget } from '../../../../src/wire/format.ts';
import { decode as decodeMessages } from '../messages/request.ts';
import { encodeRequest } from '../../../../src/wire/cohere/request/request.ts';

/** Test support: a model that thinks, as the vendor's adapter describes it. */
export const THINKER: EncodeTarget = {
  model: 'command-a-plus-05-2026',
  endUserId: 'hash-of-user',
  dialect: { plansIn: 'thinking', forcesTools: false },
};

/** Test support: a model that plans in words and can be made to call tools. */
export const PLANNER: EncodeTarget = {
  model: 'command-a-03-2025',
  endUserId: 'hash-of-user',
  dialect: { plansIn: 'tool_plan', forcesTools: true },
};

export interface Encoded {
  /** As the upstream reads it. */
  readonly body: JsonObject;
  readonly messages: readonly Json[];
  /** `code path`, in order. */
  readonly warnings: readonly string[];
  readonly toolNames: ReadonlyMap<string, string> | undefined;
}

const HELLO: readonly JsonObject[] = [{ role: 'user', content: 'Hello' }];

/** Test support: a chat caller's body as it goes out. */
export function encodeChat(body: JsonObject, target: EncodeTarget = THINKER): Encoded {
  return encoded(encodeRequest(decodeChat({ model: 'acme/one', messages: HELLO, ...body }), target));
}

/** Test support: a messages caller's body as it goes out. */
export function encodeOfMessages(body: JsonObject, target: EncodeTarget = THINKER): Encoded {
  const whole = { model: 'acme/one', max_tokens: 4_000, messages: HELLO, ...body };
  return encoded(encodeRequest(decodeMessages(whole), target));
}

function encoded({ body, warnings, toolNames }: ReturnType<typeof encodeRequest>): Encoded {
  const read = parseJsonObject(JSON.stringify(body)) ?? {};
  const { messages } = read;
  return {
    body: read,
    messages: Array.isArray(messages) ? messages : [],
    warnings: warnings.map(({ code, path }) => `${code} ${path}`),
    toolNames,
  };
}

/** Test support: the definition of a function, as chat callers write it. */
export function tool(name: string, more: JsonObject = {}): JsonObject {
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  return { type: 'function', function: { name, description: `Does ${name}`, parameters, ...more } };
}

/** Test support: the functions that a message calls, as sent. */
export function calledIn(message: Json | undefined): readonly JsonObject[] {
  return objectsOf(objectOf(message)?.['tool_calls']).map((call) => objectOf(call['function']) ?? {});
}
