import { parseJsonObject, type JsonObject } from '../../../../src/lib/json.ts';
import { objectsOf } from '../../../../src/wire/json-fields.ts';
import { decodeChat } from '../chat/request.ts';
import type { Dialect, EncodeTarget } from '../../../../src/wire/format.ts';
import { decode as decodeMessages } from '../messages/request.ts';
import { encodeRequest } from '../../../../src/wire/responses/request/request-out.ts';

/** Test support: an upstream that says nothing of itself. */
export const PLAIN: EncodeTarget = { model: 'upstream-model', endUserId: 'hash-of-user', dialect: {} };

/** Test support: a reasoning model, as its vendor's adapter describes it. */
export const REASONER: EncodeTarget = {
  ...PLAIN,
  dialect: {
    reasoningFamily: 'openai-responses-v1',
    storesResponses: true,
    encryptedReasoning: true,
    reasonsByDefault: true,
    reasoningEfforts: ['minimal', 'low', 'medium', 'high'],
    refusedWhileReasoning: new Set(['temperature', 'top_p', 'logprobs', 'top_logprobs']),
    developerRole: true,
    toolOutputParts: true,
    messagePhases: true,
    endUserMember: 'safety_identifier',
    cacheBreakpoints: 'prompt_cache_breakpoint',
    webSearchTool: true,
    imageTool: true,
  },
};

/** Test support: `PLAIN`, of which some facts are known. */
export function upstream(dialect: Dialect, more: Partial<EncodeTarget> = {}): EncodeTarget {
  return { ...PLAIN, dialect, ...more };
}

export interface Encoded {
  /** As the upstream reads it. */
  readonly body: JsonObject;
  readonly input: readonly JsonObject[];
  /** `code path`, in order. */
  readonly warnings: readonly string[];
  readonly toolNames: ReadonlyMap<string, string> | undefined;
}

const HELLO: readonly JsonObject[] = [{ role: 'user', content: 'Hello' }];

/** Test support: a chat caller's body as it goes out. */
export function encodeChat(body: JsonObject, target: EncodeTarget = PLAIN): Encoded {
  return encoded(encodeRequest(decodeChat({ model: 'acme/one', messages: HELLO, ...body }), target));
}

/** Test support: a messages caller's body as it goes out. */
export function encodeOfMessages(body: JsonObject, target: EncodeTarget = PLAIN): Encoded {
  const whole = { model: 'acme/one', max_tokens: 4_000, messages: HELLO, ...body };
  return encoded(encodeRequest(decodeMessages(whole), target));
}

function encoded({ body, warnings, toolNames }: ReturnType<typeof encodeRequest>): Encoded {
  const read = parseJsonObject(JSON.stringify(body)) ?? {};
  return {
    body: read,
    input: objectsOf(read['input']),
    warnings: warnings.map(({ code, path }) => `${code} ${path}`),
    toolNames,
  };
}

/** Test support: the definition of a function, as chat callers write it. */
export function tool(name: string, more: JsonObject = {}): JsonObject {
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  return { type: 'function', function: { name, description: `Does ${name}`, parameters, ...more } };
}

/** Test support: a call in a chat caller's history. */
export function called(id: string, name: string, args = '{}'): JsonObject {
  return { id, type: 'function', function: { name, arguments: args } };
}
