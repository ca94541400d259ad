import { z } from 'zod';
import { baseUrlMember, headersMember, secretMember, textMember } from '../config-members.ts';
import { providerNameOf } from '../otlp/generation-attributes.ts';
import { chatInput, chatOutput } from '../otlp/messages.ts';
import { otlpDestination, otlpMembers, withoutAttributes, withPath } from '../otlp/otlp-destination.ts';

const CLOUD = 'https://www.comet.com/opik/api/v1/private/otel';

const schema = z.strictObject({
  apiKey: secretMember,
  workspace: textMember,
  projectName: textMember,
  baseUrl: baseUrlMember(CLOUD).describe('Of your own server: `https://HOST/api/v1/private/otel`.'),
  headers: headersMember.optional(),
  ...otlpMembers,
});

/** The key stands in `Authorization` as it is. @source comet.com/docs/opik, "OpenTelemetry endpoint", read 2026-11 */
export const opik = otlpDestination({
  type: 'opik',
  label: 'Comet Opik',
  schema,
  secrets: ['apiKey', 'headers'],
  encoding: 'protobuf',
  shape: 'generation',
  address: ({ baseUrl = CLOUD, apiKey, workspace, projectName, headers = {} }) => ({
    url: withPath(baseUrl, '/v1/traces'),
    headers: { ...headers, authorization: apiKey, 'comet-workspace': workspace, projectname: projectName },
  }),
  // Each name below `gen_ai.usage.` becomes a kind of tokens there, which money is not.
  rename: (span, generation) => ({
    ...span,
    attributes: {
      ...withoutAttributes(span.attributes, 'gen_ai.input.', 'gen_ai.output.', 'gen_ai.usage.cost'),
      ...(span.role === 'generation' && {
        'gen_ai.system': providerNameOf(generation),
        thread_id: generation.sessionId,
        'gateway.cost.total': span.attributes['gen_ai.usage.cost'],
        ...(generation.content !== undefined && {
          'gen_ai.prompt': JSON.stringify(chatInput(generation.content)),
          'gen_ai.completion': JSON.stringify(chatOutput(generation.content)),
        }),
      }),
    },
  }),
  keyMembers: 'config.apiKey, config.workspace',
});
