import assert from 'node:assert/strict';
import { z } from 'zod';
import type { PluginRequest } from '../../../../src/canonical/directives.ts';
import { GatewayError } from '../../../../src/canonical/gateway-error.ts';
import type { GenerationRequest, Settings, Turn } from '../../../../src/canonical/request.ts';
import { isJsonObject, parseJson } from '../../../../src/lib/json.ts';
import type { JsonObject } from '../../../../src/lib/json.ts';
import type { Dialect, EncodedRequest, EncodeTarget } from '../../../../src/wire/format.ts';
import type { HeaderDirectives } from '../../../../src/wire/gateway/headers.ts';
import { encodeRequest } from '../../../../src/wire/messages/request/request-out.ts';
import { createMessagesClientFormat } from '../../../../src/wire/messages/format.ts';
import { plainDirectives } from '../../plain-directives.ts';

/** Test support: the client format with plugins that are not looked into. */
export const clientFormat = createMessagesClientFormat({ plugin: z.custom<PluginRequest>(isJsonObject) });

const HEADERS: HeaderDirectives = { serviceMetadata: false, betas: [] };

/** Test support: decodes a body as if it had come over the wire. */
export function decode(body: unknown, headers: Partial<HeaderDirectives> = {}): GenerationRequest {
  return decodeText(JSON.stringify(body), headers);
}

export function decodeText(text: string, headers: Partial<HeaderDirectives> = {}): GenerationRequest {
  return clientFormat.decodeRequest(parseJson(text) ?? null, text, { ...HEADERS, ...headers });
}

/** Test support: the refusal of a body. */
export function refusal(body: unknown): GatewayError {
  try {
    decode(body);
  } catch (error) {
    assert.ok(error instanceof GatewayError, 'bad input gives nothing but a GatewayError');
    return error;
  }
  return assert.fail('the body was accepted');
}

export function target(dialect: Dialect = {}, more: Partial<EncodeTarget> = {}): EncodeTarget {
  return { model: 'upstream-model', endUserId: 'hash-1', dialect, ...more };
}

/** Test support: an encoded request with its body as the upstream will read it. */
export function encode(request: GenerationRequest, to: EncodeTarget): EncodedRequest & { readonly body: JsonObject } {
  const encoded = encodeRequest(request, to);
  const body = parseJson(JSON.stringify(encoded.body));
  assert.ok(isJsonObject(body), 'a body is an object');
  return { ...encoded, body };
}

/** Test support: a request as the chat format decodes it. */
export function chatRequest(
  turns: readonly Turn[],
  settings: Settings = {},
  more: Partial<GenerationRequest> = {},
): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns,
    tools: [],
    settings,
    directives: plainDirectives('acme/one'),
    warnings: [],
    ...more,
  };
}

export function user(text: string): Turn {
  return { role: 'user', plain: true, blocks: [{ type: 'text', text }] };
}
