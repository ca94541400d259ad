import { z } from 'zod';
import { usdFromNano } from '../../../lib/money.ts';
import { baseUrlMember, below, headersMember, secretMember } from '../config-members.ts';
import type { ExportedGeneration } from '../contract.ts';
import { operationOf, providerNameOf, traceMembers } from '../otlp/generation-attributes.ts';
import { chatInput, chatOutput } from '../otlp/messages.ts';
import { faultOfTest, otlpDestination, otlpMembers, withoutAttributes, withPath } from '../otlp/otlp-destination.ts';
import type { Attributes, Span } from '../otlp/span.ts';

const US = 'https://api.braintrust.dev';
const MB = 1_024 * 1_024;
const MS_PER_S = 1_000;

const schema = z.strictObject({
  baseUrl: baseUrlMember(US).describe('`https://api-eu.braintrust.dev` in the EU, or your own data plane.'),
  apiKey: secretMember,
  projectId: z.uuid(),
  headers: headersMember.optional(),
  ...otlpMembers,
});

/** @source braintrust.dev/docs/integrations/sdk-integrations/opentelemetry, "Manual tracing" and the attributes `braintrust.*`, read 2026-11 */
export const braintrust = otlpDestination({
  type: 'braintrust',
  label: 'Braintrust',
  schema,
  secrets: ['apiKey', 'headers'],
  encoding: 'protobuf',
  shape: 'generation',
  limits: { bytes: 5 * MB },
  address: ({ baseUrl = US, apiKey, projectId, headers = {} }) => ({
    url: withPath(withPath(baseUrl, '/otel', '/v1/traces'), '/v1/traces'),
    headers: { ...headers, authorization: `Bearer ${apiKey}`, 'x-bt-parent': `project_id:${projectId}` },
  }),
  // Events become rows of their own there.
  rename: (span, generation) => ({
    ...span,
    events: [],
    attributes: {
      ...withoutAttributes(span.attributes, 'gen_ai.input.', 'gen_ai.output.'),
      ...attributesFor(span, generation),
    },
  }),
  test: ({ baseUrl = US, projectId }, { headers }) => ({
    call: { url: below(baseUrl, `/v1/project/${projectId}`), method: 'GET', headers, ids: [] },
    judge: (answer) =>
      answer.status === 404
        ? 'config.projectId: there is no such project'
        : faultOfTest(answer, 'config.apiKey, config.projectId'),
  }),
  keyMembers: 'config.apiKey, config.projectId',
});

function attributesFor({ role }: Span, generation: ExportedGeneration): Attributes {
  const { trace, sessionId, endUserId, content, settings, model } = generation;
  const metadata = {
    model,
    provider: providerNameOf(generation),
    ...settings,
    session_id: sessionId,
    user_id: endUserId,
    ...Object.fromEntries(traceMembers(trace)),
  };
  if (role !== 'generation')
    return { 'braintrust.span_attributes': JSON.stringify({ type: role === 'tool' ? 'tool' : 'task' }) };
  const type = operationOf(generation) === 'rerank' ? 'task' : 'llm';
  return {
    'braintrust.span_attributes': JSON.stringify({ type }),
    'braintrust.input_json': content && JSON.stringify(chatInput(content)),
    'braintrust.output_json':
      content && JSON.stringify([{ index: 0, message: chatOutput(content), finish_reason: generation.finishReason }]),
    'braintrust.metadata': JSON.stringify(metadata),
    'braintrust.metrics': JSON.stringify(metricsOf(generation)),
  };
}

function metricsOf({ tokens, cost, streamed, firstTokenMs, startMs }: ExportedGeneration): object {
  return {
    ...(tokens !== undefined && {
      prompt_tokens: tokens.prompt,
      completion_tokens: tokens.completion,
      tokens: tokens.prompt + tokens.completion,
      prompt_cached_tokens: tokens.cacheRead,
      prompt_cache_creation_tokens: tokens.cacheWrite,
      completion_reasoning_tokens: tokens.reasoning,
    }),
    ...(streamed && firstTokenMs !== undefined && { time_to_first_token: (firstTokenMs - startMs) / MS_PER_S }),
    ...(cost !== undefined && { estimated_cost: usdFromNano(cost.total) }),
  };
}
