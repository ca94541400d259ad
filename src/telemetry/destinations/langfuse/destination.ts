import { z } from 'zod';
import { usdFromNano } from '../../../lib/money.ts';
import { baseUrlMember, below, headersMember, secretMember } from '../config-members.ts';
import type { ExportedGeneration } from '../contract.ts';
import { operationOf, traceMembers, traceText } from '../otlp/generation-attributes.ts';
import { chatInput, chatOutput } from '../otlp/messages.ts';
import {
  basicAuth,
  faultOfTest,
  otlpDestination,
  otlpMembers,
  withoutAttributes,
  withPath,
} from '../otlp/otlp-destination.ts';
import type { Attributes, Span } from '../otlp/span.ts';

const US = 'https://us.cloud.langfuse.com';
/** An address may have it already. */
const OTEL_PATH = /\/api\/public\/otel(?:\/v1\/traces)?\/*$/;

const schema = z.strictObject({
  baseUrl: baseUrlMember(US).describe('`https://cloud.langfuse.com` in the EU, or your own server from 3.22.'),
  publicKey: secretMember.describe('`pk-lf-...`'),
  secretKey: secretMember.describe('`sk-lf-...`'),
  headers: headersMember.optional(),
  ...otlpMembers,
});

/**
 * Its attributes win over those of the conventions.
 * @source langfuse.com/integrations/native/opentelemetry, "Property Mapping"; OpenAPI of the public API, read 2026-11
 */
export const langfuse = otlpDestination({
  type: 'langfuse',
  label: 'Langfuse',
  schema,
  secrets: ['secretKey', 'headers'],
  encoding: 'json',
  shape: 'generation',
  address: ({ baseUrl = US, publicKey, secretKey, headers = {} }) => ({
    url: withPath(withPath(baseUrl, '/api/public/otel', '/v1/traces'), '/v1/traces'),
    // Without the version new data shows up some ten minutes late.
    headers: { ...headers, authorization: basicAuth(publicKey, secretKey), 'x-langfuse-ingestion-version': '4' },
  }),
  rename: (span, generation) => ({
    ...span,
    attributes: { ...withoutAttributes(span.attributes, 'gen_ai.usage.'), ...attributesFor(span, generation) },
  }),
  test: ({ baseUrl = US }, { headers }) => ({
    call: {
      url: below(baseUrl.replace(OTEL_PATH, ''), '/api/public/projects'),
      method: 'GET',
      headers: { ...headers, accept: 'application/json' },
      ids: [],
    },
    judge: (answer) => faultOfTest(answer, 'config.publicKey, config.secretKey'),
  }),
  keyMembers: 'config.publicKey, config.secretKey',
});

const TYPES: Readonly<Record<string, string>> = { embeddings: 'embedding', rerank: 'retriever' };

function attributesFor(span: Span, generation: ExportedGeneration): Attributes {
  const { trace, sessionId, endUserId, content, error, firstTokenMs, streamed } = generation;
  const ofTrace: Attributes = {
    'langfuse.trace.name': traceText(trace, 'trace_name'),
    'langfuse.session.id': sessionId,
    'langfuse.user.id': endUserId,
    ...Object.fromEntries(traceMembers(trace).map(([key, value]) => [`langfuse.trace.metadata.${key}`, value])),
  };
  if (span.role !== 'generation')
    return { ...ofTrace, 'langfuse.observation.type': span.role === 'tool' ? 'tool' : 'span' };
  return {
    ...ofTrace,
    'langfuse.observation.type': TYPES[operationOf(generation)] ?? 'generation',
    'langfuse.observation.model.name': generation.model,
    'langfuse.observation.model.parameters': JSON.stringify(generation.settings),
    'langfuse.observation.input': content && JSON.stringify(chatInput(content)),
    'langfuse.observation.output': content && JSON.stringify(chatOutput(content)),
    'langfuse.observation.usage_details': usageOf(generation),
    'langfuse.observation.cost_details': costOf(generation),
    // The text of a JSON text, as its SDK writes it.
    'langfuse.observation.completion_start_time':
      !streamed || firstTokenMs === undefined ? undefined : JSON.stringify(new Date(firstTokenMs).toISOString()),
    'langfuse.observation.level': error && 'ERROR',
    'langfuse.observation.status_message': error?.message ?? error?.type,
  };
}

/** Its kinds of tokens are added up, and so none of them may contain another one. */
function usageOf({ tokens }: ExportedGeneration): string | undefined {
  if (tokens === undefined) return undefined;
  const { prompt, completion, cacheRead, cacheWrite, reasoning } = tokens;
  return JSON.stringify({
    input: Math.max(0, prompt - cacheRead - cacheWrite),
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
    output: Math.max(0, completion - (reasoning ?? 0)),
    ...(reasoning !== undefined && { output_reasoning_tokens: reasoning }),
    total: prompt + completion,
  });
}

/** What is named here is not guessed there. */
function costOf({ cost }: ExportedGeneration): string | undefined {
  if (cost === undefined) return undefined;
  const { prompt, completion, total } = cost;
  return JSON.stringify({
    ...(prompt !== undefined && { input: usdFromNano(prompt) }),
    ...(completion !== undefined && { output: usdFromNano(completion) }),
    total: usdFromNano(total),
  });
}
