import { z } from 'zod';
import { baseUrlMember, headersMember, secretMember, textMember } from '../config-members.ts';
import type { ExportedGeneration } from '../contract.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { operationOf, providerNameOf, traceMembers, usdDouble } from '../otlp/generation-attributes.ts';
import { chatInput, chatOutput } from '../otlp/messages.ts';
import { otlpDestination, otlpMembers, withoutAttributes, withPath } from '../otlp/otlp-destination.ts';
import type { Attributes, Span } from '../otlp/span.ts';

const HOST = 'https://otlp.arize.com';
/** Each message is several attributes: the others stand in `input.value` alone. */
const MESSAGES_FIRST = 2;
const MESSAGES_LAST = 126;

const schema = z.strictObject({
  baseUrl: baseUrlMember(HOST),
  apiKey: secretMember,
  spaceKey: secretMember,
  modelId: textMember.describe('The project, which is made where it is missing.'),
  headers: headersMember.optional(),
  ...otlpMembers,
});

/**
 * OpenInference in the place of the GenAI conventions.
 * @source arize.com/docs/ax, "OpenTelemetry (Arize OTel)"; `@arizeai/openinference-semantic-conventions` 2.12, read 2026-11
 */
export const arize = otlpDestination({
  type: 'arize',
  label: 'Arize AX',
  schema,
  secrets: ['apiKey', 'spaceKey', 'headers'],
  encoding: 'protobuf',
  shape: 'generation',
  address: ({ baseUrl = HOST, apiKey, spaceKey, headers = {} }) => ({
    url: withPath(baseUrl, '/v1/traces'),
    headers: { ...headers, 'arize-space-id': spaceKey, 'arize-api-key': apiKey, space_id: spaceKey, api_key: apiKey },
  }),
  resource: ({ modelId }) => ({ 'openinference.project.name': modelId, model_id: modelId }),
  rename: (span, generation) => ({
    ...span,
    attributes: { ...withoutAttributes(span.attributes, 'gen_ai.', 'trace.'), ...attributesFor(span, generation) },
  }),
  keyMembers: 'config.apiKey, config.spaceKey',
});

const KINDS: Readonly<Record<string, string>> = { embeddings: 'EMBEDDING', rerank: 'RERANKER' };

function attributesFor({ role, attributes }: Span, generation: ExportedGeneration): Attributes {
  if (role === 'tool') return { 'openinference.span.kind': 'TOOL', 'tool.name': attributes['gen_ai.tool.name'] };
  if (role !== 'generation') return { 'openinference.span.kind': 'CHAIN' };
  const { trace, sessionId, endUserId, settings, tokens, cost, content } = generation;
  const members = traceMembers(trace);
  return {
    'openinference.span.kind': KINDS[operationOf(generation)] ?? 'LLM',
    'llm.model_name': generation.model,
    'llm.provider': providerNameOf(generation),
    'llm.invocation_parameters': JSON.stringify(settings),
    'llm.finish_reason': generation.finishReason,
    'llm.token_count.prompt': tokens?.prompt,
    'llm.token_count.completion': tokens?.completion,
    'llm.token_count.total': tokens && tokens.prompt + tokens.completion,
    'llm.token_count.prompt_details.cache_read': tokens?.cacheRead,
    'llm.token_count.prompt_details.cache_write': tokens?.cacheWrite,
    'llm.token_count.completion_details.reasoning': tokens?.reasoning,
    'llm.cost.prompt': usdDouble(cost?.prompt),
    'llm.cost.completion': usdDouble(cost?.completion),
    'llm.cost.total': usdDouble(cost?.total),
    'session.id': sessionId,
    'user.id': endUserId,
    metadata: members.length === 0 ? undefined : JSON.stringify(Object.fromEntries(members)),
    ...(content !== undefined && contentOf(content)),
  };
}

function contentOf(content: NonNullable<ExportedGeneration['content']>): Attributes {
  const [input, output] = [chatInput(content), chatOutput(content)];
  const shown =
    input.length > MESSAGES_FIRST + MESSAGES_LAST
      ? [...input.slice(0, MESSAGES_FIRST), ...input.slice(-MESSAGES_LAST)]
      : input;
  return {
    'input.value': JSON.stringify({ messages: input }),
    'input.mime_type': 'application/json',
    'output.value': JSON.stringify(output),
    'output.mime_type': 'application/json',
    ...flatten('llm.input_messages', shown),
    ...flatten('llm.output_messages', [output]),
  };
}

function flatten(prefix: string, messages: readonly JsonObject[]): Attributes {
  const flat: Record<string, string | undefined> = {};
  for (const [index, { role, content, tool_call_id: callId, tool_calls: calls }] of messages.entries()) {
    const path = `${prefix}.${index}.message`;
    flat[`${path}.role`] = typeof role === 'string' ? role : 'user';
    flat[`${path}.content`] = typeof content === 'string' ? content : JSON.stringify(content ?? '');
    if (typeof callId === 'string') flat[`${path}.tool_call_id`] = callId;
    for (const [at, call] of (Array.isArray(calls) ? calls.filter(isJsonObject) : []).entries()) {
      const called = isJsonObject(call['function']) ? call['function'] : {};
      flat[`${path}.tool_calls.${at}.tool_call.id`] = textOf(call['id']);
      flat[`${path}.tool_calls.${at}.tool_call.function.name`] = textOf(called['name']);
      flat[`${path}.tool_calls.${at}.tool_call.function.arguments`] = textOf(called['arguments']);
    }
  }
  return flat;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
