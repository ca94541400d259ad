import assert from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';
import type { EventBatch } from '../../../../src/canonical/events.ts';
import { foldEvents } from '../../../../src/canonical/fold.ts';
import { describeFailure } from '../../../../src/canonical/failure/failure.ts';
import { GatewayError } from '../../../../src/canonical/gateway-error.ts';
import { type PluginRequest } from '../../../../src/canonical/directives.ts';
import type { GenerationRequest } from '../../../../src/canonical/request.ts';
import { NO_USAGE } from '../../../../src/canonical/usage.ts';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../../../src/lib/json.ts';
import { createSecretBox, secretFrom } from '../../../../src/lib/secret-box.ts';
import type { ClientFormat, FinalUsage, ResponseIdentity } from '../../../../src/wire/format.ts';
import { newItemId } from '../../../../src/wire/responses/item-ids.ts';
import { createContainers, type Containers } from '../../../../src/wire/responses/containers.ts';
import { createResponsesClientFormat, type ResponsesFormatOptions } from '../../../../src/wire/responses/format.ts';
import { plainDirectives } from '../../plain-directives.ts';

/** Test support: the responses format as a caller reads it. */
export const containers = createContainers(createSecretBox([secretFrom('one')]));
export const ACCOUNT = 'acc-1';
const NOW_MS = 1_760_000_002_000;

/** Ids count up from 1 within each kind of item, in each format that is made so. */
export function callerFormat(more: Partial<ResponsesFormatOptions> = {}): ClientFormat {
  return createResponsesClientFormat({
    plugin: z.custom<PluginRequest>(isJsonObject),
    containers,
    echo: 'terminal',
    lengthErrors: 'failed',
    streamErrors: 'status',
    nowMs: () => NOW_MS,
    newId: countIds(),
    ...more,
  });
}

function countIds(): (type: string) => string {
  const counts = new Map<string, number>();
  return (type) => {
    const [prefix = ''] = newItemId(type).split('_');
    const count = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, count);
    return `${prefix}_${count}`;
  };
}

/** A request of the format. @param echo what the response repeats of it */
export function request(
  more: Partial<GenerationRequest> = {},
  echo: JsonObject = {},
  include: readonly string[] = [],
): GenerationRequest {
  return {
    format: 'responses',
    delivery: 'stream',
    turns: [],
    tools: [],
    settings: {},
    directives: plainDirectives('acme/m1'),
    response: { echo, include: new Set(include), items: [] },
    warnings: [],
    ...more,
  };
}

export function identity(of: GenerationRequest = request()): ResponseIdentity {
  return {
    id: 'gen-6a1f0c',
    createdS: 1_760_000_000,
    model: 'acme/m1',
    provider: 'Acme',
    request: of,
    accountId: ACCOUNT,
  };
}

export const FINAL_USAGE: FinalUsage = {
  usage: { ...NO_USAGE, promptTokens: 20, completionTokens: 3, serviceTier: 'default', estimated: false },
  charge: { totalNanoUsd: 50_000, promptNanoUsd: 30_000, completionNanoUsd: 20_000 },
  isByok: false,
  serviceMetadata: undefined,
};

export const CONTEXT = { generationId: 'gen-6a1f0c', serviceMetadata: undefined, baseUrl: 'http://localhost:8787/v1' };

/** Why a stream breaks off. */
export const BROKEN = new GatewayError('provider_unavailable', 'The provider broke off the response.');

/** The stream of these events, each in a batch of its own, closed, or failed where its last event says so. */
export function encodeStream(
  events: EventBatch,
  of: GenerationRequest = request(),
  options: Partial<ResponsesFormatOptions> = {},
): string {
  const encoder = callerFormat(options).createStreamEncoder(identity(of));
  const frames = events.map((event) => encoder.encode([event])).join('');
  const last = events.at(-1);
  if (last?.type !== 'failed') return frames + encoder.close(FINAL_USAGE);
  const { errorType, status } = last.failure;
  const error = new GatewayError(errorType, describeFailure(last.failure), { status });
  return frames + encoder.fail(error, FINAL_USAGE, CONTEXT);
}

/** The same as a whole response. */
export function encodeWhole(
  events: EventBatch,
  of: GenerationRequest = request(),
  options: Partial<ResponsesFormatOptions> = {},
): JsonObject {
  const text = callerFormat(options).encodeWhole(foldEvents(events), identity(of), FINAL_USAGE);
  return parseJsonObject(text) ?? assert.fail('a whole response is an object');
}

/** Containers that hold their content in the open and are the same each time. */
export const openContainers: Containers = {
  seal: (kind, _accountId, content) => `${kind === 'reasoning' ? 'sr1' : 'sc1'}.${JSON.stringify(content)}`,
  open: (_kind, _accountId, text) => parseJsonObject(text.slice('sr1.'.length)),
};

/** What the vendor's own SDK makes of a stream. */
export async function readBySdk(
  stream: string,
): Promise<{ readonly output: readonly unknown[]; readonly text: string }> {
  const client = new OpenAI({
    apiKey: 'sk-test',
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } })),
  });
  const response = await client.responses.stream({ model: 'acme/m1', input: 'Hi' }).finalResponse();
  return { output: response.output, text: response.output_text };
}

/** What the AI SDK makes of a stream: its texts, the ids of its calls of functions, and how often it failed. */
export async function readByAiSdk(
  stream: string,
): Promise<{ readonly text: string; readonly calls: readonly string[]; readonly failures: number }> {
  const provider = createOpenAI({
    apiKey: 'sk-test',
    fetch: () => Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } })),
  });
  const found = { text: '', calls: [] as string[], failures: 0 };
  try {
    const { stream: parts } = await provider
      .responses('acme/m1')
      .doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] });
    for await (const part of parts) {
      if (part.type === 'text-delta') found.text += part.delta;
      else if (part.type === 'tool-call' && part.providerExecuted !== true) found.calls.push(part.toolCallId);
      else if (part.type === 'error') found.failures += 1;
    }
  } catch (error) {
    // So it fails where nothing came before the failure.
    if (!APICallError.isInstance(error)) throw error;
    found.failures += 1;
  }
  return found;
}
