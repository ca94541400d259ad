import type { ChatOrMessages } from './chat-or-messages.ts';
import type { FormatId } from '../../src/canonical/extra.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import { GatewayError } from '../../src/canonical/gateway-error.ts';
import type { Endpoint } from '../../src/catalog/model.ts';
import { parseJson, type Json, type JsonObject } from '../../src/lib/json.ts';
import { prepareCall } from '../../src/pipeline/attempt/call-upstream.ts';
import { pluginSchema } from '../../src/plugins/index.ts';
import type { Provider } from '../../src/providers/contract.ts';
import { createProviders } from '../../src/providers/index.ts';
import { UPSTREAM_FORMATS } from '../../src/app/upstream-formats.ts';
import { createChatClientFormat } from '../../src/wire/chat/format.ts';
import type { Dialect } from '../../src/wire/format.ts';
import type { HeaderDirectives } from '../../src/wire/gateway/headers.ts';
import { createMessagesClientFormat } from '../../src/wire/messages/format.ts';

/** An endpoint as a request meets it: its provider, the name of the model there, and the format. */
export interface RequestTarget {
  readonly adapter: string;
  readonly model: string;
  readonly format: FormatId;
}

/** What callers speak. */
export const CLIENT_FORMATS = {
  chat: createChatClientFormat({ plugin: pluginSchema }),
  messages: createMessagesClientFormat({ plugin: pluginSchema }),
};

const TIMEOUTS = { connectMs: 1, headersMs: 1, firstTokenMs: 1, idleMs: 1, wholeMs: 1 };
const OUTPUT_TOKENS_MAX = 64_000;

/**
 * A caller's request as it leaves for an upstream: path, headers without credentials, body, and what was dropped or
 * changed on the way. A refusal is returned as its status and message.
 */
export function prepareRequest(
  caller: ChatOrMessages,
  body: JsonObject,
  target: RequestTarget,
  headers: Partial<HeaderDirectives> = {},
): JsonObject {
  const text = JSON.stringify(body);
  const decode = (): GenerationRequest =>
    CLIENT_FORMATS[caller].decodeRequest(parseJson(text) ?? null, text, {
      serviceMetadata: false,
      betas: [],
      ...headers,
    });
  return prepareDecoded(decode, target);
}

/** The same for a request that is decoded elsewhere. @param decode may refuse it */
export function prepareDecoded(decode: () => GenerationRequest, target: RequestTarget): JsonObject {
  const format = UPSTREAM_FORMATS[target.format];
  try {
    const request = decode();
    const endpoint = endpointOf(target);
    const { path, headers: sent, encoded } = prepareCall(providerOf(target), format, endpoint, request, 'hash-of-user');
    const { body: written, warnings, toolNames, outputTool } = encoded;
    return {
      path,
      headers: sent,
      ...(toolNames !== undefined && { toolNames: Object.fromEntries(toolNames) }),
      ...(outputTool !== undefined && { answerTool: outputTool }),
      // As the upstream reads it.
      body: parseJson(JSON.stringify(written)) ?? null,
      warnings: [...request.warnings, ...warnings].map(
        ({ code, path: at, message }): Json => `${code} ${at}: ${message}`,
      ),
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { refused: error.status, message: error.message, metadata: error.metadata ?? null };
  }
}

/** An endpoint with a provider and a maximum, and no facts of its own. */
export function endpointOf({ model, format }: RequestTarget): Endpoint {
  return {
    model: 'acme/one',
    provider: 'upstream',
    providerName: 'Upstream',
    upstreamModel: model,
    dataPolicy: {},
    formats: [format],
    nativeTools: false,
    cancellable: false,
    outputTokensMax: OUTPUT_TOKENS_MAX,
    price: undefined,
  };
}

const CANNOT_READ = /^(?:messages|input)\[(\d+)\]\.content\[(\d+)\].*which the provider of the model cannot read$/;

/**
 * The request without the files that this kind of upstream refuses, and the refusals. The router selects no such
 * upstream for them, and files at addresses are fetched before the call.
 */
export function withoutUnreadable(
  caller: ChatOrMessages,
  full: JsonObject,
  target: RequestTarget,
): { readonly body: JsonObject; readonly refused: readonly string[] } {
  return withoutRefused(full, (body) => prepareRequest(caller, body, target));
}

/** @param prepare the request as it leaves, or its refusal */
export function withoutRefused(
  full: JsonObject,
  prepare: (body: JsonObject) => JsonObject,
): { readonly body: JsonObject; readonly refused: readonly string[] } {
  const body: { [member: string]: unknown; messages?: Turn[]; input?: Turn[] } = structuredClone(full) as never;
  const refused: string[] = [];
  for (;;) {
    const { message } = prepare(body as JsonObject);
    const words = typeof message === 'string' ? message : '';
    const [, turn, part] = CANNOT_READ.exec(words) ?? [];
    const content = (body.messages ?? body.input)?.[Number(turn)]?.content;
    if (!Array.isArray(content)) return { body: body as JsonObject, refused };
    refused.push(words);
    content[Number(part)] = { type: 'text', text: 'A file.' };
  }
}

interface Turn {
  readonly content?: unknown;
}

/** In what the endpoint differs from others of its format. */
export function dialectOf(target: RequestTarget): Dialect {
  return providerOf(target).adapter.dialect(target);
}

const providers = new Map<string, Provider>();

/** Its provider. */
export function providerOf({ adapter }: RequestTarget): Provider {
  const known = providers.get(adapter);
  if (known !== undefined) return known;
  const made = createProviders({
    config: [
      {
        slug: 'upstream',
        adapter,
        baseUrl: 'https://upstream.example/v1',
        apiKey: 'upstream-key',
        headers: {},
        timeouts: {},
      },
    ],
    env: { AWS_REGION: 'us-east-1' },
    timeouts: TIMEOUTS,
  }).get('upstream');
  if (made === undefined) throw new Error(`no provider with the adapter ${adapter}`);
  // What a wire says of a stored file shows only where callers may name one.
  const provider: Provider = { ...made, storedFiles: true };
  providers.set(adapter, provider);
  return provider;
}
