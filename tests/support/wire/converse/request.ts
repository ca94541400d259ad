import assert from 'node:assert/strict';
import type { Warning } from '../../../../src/canonical/extra.ts';
import { GatewayError } from '../../../../src/canonical/gateway-error.ts';
import type { GenerationRequest } from '../../../../src/canonical/request.ts';
import { isJsonObject, parseJson } from '../../../../src/lib/json.ts';
import type { Json, JsonObject } from '../../../../src/lib/json.ts';
import { decodeChatText } from '../chat/request.ts';
import type { Dialect, EncodedRequest, EncodeTarget } from '../../../../src/wire/format.ts';
import { decodeText as decodeMessagesText } from '../messages/request.ts';
import type { ConverseFacts } from '../../../../src/wire/converse/dialect.ts';
import { encodeRequest } from '../../../../src/wire/converse/request/request.ts';

/** Test support: a Claude of the 4.5 family. */
export const CLAUDE: Dialect = {
  thinking: 'budget',
  efforts: [],
  structuredOutput: true,
  converse: {
    claude: true,
    topK: 'top_k',
    strictTools: true,
    cachePoints: 'everywhere',
    cacheTtl: true,
    media: ['image', 'document'],
    mediaInResults: ['image', 'document'],
    besideResults: ['text', 'image'],
    leadingAssistant: true,
    betas: ['interleaved-thinking'],
  },
};

/** Test support: a model with these facts and nothing else. */
export function model(converse: ConverseFacts, more: Dialect = {}): Dialect {
  return { ...more, converse };
}

/** Test support: an encoded request with its body as the upstream will read it. */
export interface Encoded extends Omit<EncodedRequest, 'body'> {
  readonly body: JsonObject;
  /** `code path`, of all warnings. */
  readonly warned: readonly string[];
}

export function encode(request: GenerationRequest, dialect: Dialect, more: Partial<EncodeTarget> = {}): Encoded {
  const encoded = encodeRequest(request, { model: 'upstream-model', endUserId: 'hash-1', dialect, ...more });
  const body = parseJson(JSON.stringify(encoded.body));
  assert.ok(isJsonObject(body), 'a body is an object');
  return { ...encoded, body, warned: encoded.warnings.map(({ code, path }: Warning) => `${code} ${path}`) };
}

/** Test support: what a chat caller's body becomes. */
export function encodeChat(body: Json, dialect: Dialect = {}, more: Partial<EncodeTarget> = {}): Encoded {
  return encode(decodeChatText(JSON.stringify(body)), dialect, more);
}

/** Test support: what a messages caller's body becomes. */
export function encodeMessages(body: JsonObject, dialect: Dialect = CLAUDE, more: Partial<EncodeTarget> = {}): Encoded {
  return encode(decodeMessagesText(JSON.stringify({ model: 'm', max_tokens: 100, ...body })), dialect, more);
}

/** Test support: the refusal of a chat caller's body. */
export function refusalOf(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error;
  }
  return assert.fail('it was accepted');
}
