import { z } from 'zod';
import { baseUrlMember, headersMember, secretMember, textMember } from '../config-members.ts';
import type { ExportedGeneration } from '../contract.ts';
import { traceMembers, traceText } from '../otlp/generation-attributes.ts';
import { otlpDestination, otlpMembers, withPath } from '../otlp/otlp-destination.ts';
import type { Attributes, Span } from '../otlp/span.ts';

const CLOUD = 'https://trace.wandb.ai';

const schema = z.strictObject({
  baseUrl: baseUrlMember(CLOUD).describe('Of a dedicated cloud: `https://NAME.wandb.io/traces`.'),
  apiKey: secretMember,
  entity: textMember,
  project: textMember,
  headers: headersMember.optional(),
  ...otlpMembers,
});

/** Takes Protocol Buffers alone. @source docs.wandb.ai/weave/guides/tracking/otel, endpoint, authentication and resource attributes, read 2026-11 */
export const weave = otlpDestination({
  type: 'weave',
  label: 'W&B Weave',
  schema,
  secrets: ['apiKey', 'headers'],
  encoding: 'protobuf',
  shape: 'generation',
  address: ({ baseUrl = CLOUD, apiKey, entity, project, headers = {} }) => ({
    url: withPath(withPath(baseUrl, '/otel', '/v1/traces'), '/v1/traces'),
    headers: { ...headers, 'wandb-api-key': apiKey, project_id: `${entity}/${project}` },
  }),
  resource: ({ entity, project }) => ({ 'wandb.entity': entity, 'wandb.project': project }),
  rename: (span, generation) => ({ ...span, attributes: { ...span.attributes, ...attributesFor(span, generation) } }),
  keyMembers: 'config.apiKey, config.entity',
});

function attributesFor({ role, parentSpanId }: Span, { trace, sessionId, tokens }: ExportedGeneration): Attributes {
  const members = traceMembers(trace);
  return {
    'wandb.thread_id': sessionId,
    'wandb.is_turn': sessionId !== undefined && parentSpanId === undefined ? true : undefined,
    'wandb.display_name': role === 'generation' ? traceText(trace, 'generation_name') : undefined,
    'wandb.attributes': members.length === 0 ? undefined : JSON.stringify(Object.fromEntries(members)),
    'llm.token_count.total': role === 'generation' ? tokens && tokens.prompt + tokens.completion : undefined,
  };
}
