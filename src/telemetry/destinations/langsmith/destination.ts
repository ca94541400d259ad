import { z } from 'zod';
import { usdFromNano } from '../../../lib/money.ts';
import { baseUrlMember, headersMember, secretMember, textMember } from '../config-members.ts';
import type { ExportedGeneration } from '../contract.ts';
import { operationOf, providerNameOf, traceMembers, traceText } from '../otlp/generation-attributes.ts';
import { chatInput, chatOutput } from '../otlp/messages.ts';
import { otlpDestination, otlpMembers, withoutAttributes, withPath } from '../otlp/otlp-destination.ts';
import type { Attributes, Span } from '../otlp/span.ts';

const US = 'https://api.smith.langchain.com';
/** @source `@openrouter/sdk` 1.3.19, `ObservabilityLangsmithDestinationConfig` */
const PROJECT = 'main';

const schema = z.strictObject({
  endpoint: baseUrlMember(US).describe(
    '`https://eu.api.smith.langchain.com` in the EU; of your own server with `/api/v1`.',
  ),
  apiKey: secretMember,
  project: textMember.optional().meta({ default: PROJECT }),
  workspaceId: textMember.optional(),
  headers: headersMember.optional(),
  ...otlpMembers,
});

/** @source docs.langchain.com/langsmith/trace-with-opentelemetry, endpoint, headers and "Supported OpenTelemetry attribute and event mapping", read 2026-11 */
export const langsmith = otlpDestination({
  type: 'langsmith',
  label: 'LangSmith',
  schema,
  secrets: ['apiKey', 'headers'],
  encoding: 'protobuf',
  shape: 'generation',
  address: ({ endpoint = US, apiKey, project = PROJECT, workspaceId, headers = {} }) => ({
    url: withPath(withPath(endpoint, '/otel', '/v1/traces'), '/v1/traces'),
    headers: {
      ...headers,
      'x-api-key': apiKey,
      'langsmith-project': project,
      ...(workspaceId !== undefined && { 'x-tenant-id': workspaceId }),
    },
  }),
  rename: (span, generation) => ({
    ...span,
    attributes: {
      ...withoutAttributes(span.attributes, 'gen_ai.input.', 'gen_ai.output.'),
      ...attributesFor(span, generation),
    },
  }),
  keyMembers: 'config.apiKey',
});

const KINDS: Readonly<Record<string, string>> = { embeddings: 'embedding', rerank: 'retriever' };

/** Never `langsmith.trace.session_id`: a session is a project there, and a caller's own would send the run elsewhere. */
function attributesFor(span: Span, generation: ExportedGeneration): Attributes {
  const { trace, sessionId, endUserId, content } = generation;
  const ofTrace: Attributes = {
    'langsmith.trace.name': traceText(trace, 'trace_name') ?? span.name,
    'langsmith.metadata.session_id': sessionId,
    'langsmith.metadata.user_id': endUserId,
    ...Object.fromEntries(traceMembers(trace).map(([key, value]) => [`langsmith.metadata.${key}`, value])),
  };
  if (span.role !== 'generation') return { ...ofTrace, 'langsmith.span.kind': span.role === 'tool' ? 'tool' : 'chain' };
  return {
    ...ofTrace,
    'langsmith.span.kind': KINDS[operationOf(generation)] ?? 'llm',
    'langsmith.metadata.ls_provider': providerNameOf(generation),
    'langsmith.metadata.ls_model_name': generation.model,
    'langsmith.usage_metadata': usageOf(generation),
    'gen_ai.prompt': content && JSON.stringify({ messages: chatInput(content) }),
    'gen_ai.completion': content && JSON.stringify({ messages: [chatOutput(content)] }),
  };
}

function usageOf({ tokens, cost }: ExportedGeneration): string | undefined {
  if (tokens === undefined) return undefined;
  const { prompt, completion, cacheRead, cacheWrite, reasoning } = tokens;
  return JSON.stringify({
    input_tokens: prompt,
    output_tokens: completion,
    total_tokens: prompt + completion,
    input_token_details: { cache_read: cacheRead, cache_creation: cacheWrite },
    ...(reasoning !== undefined && { output_token_details: { reasoning } }),
    ...(cost !== undefined && { total_cost: usdFromNano(cost.total) }),
  });
}
