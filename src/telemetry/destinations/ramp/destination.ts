import { z } from 'zod';
import { baseUrlMember, headersMember, secretMember } from '../config-members.ts';
import { otlpDestination, otlpMembers, withPath } from '../otlp/otlp-destination.ts';

/** @source `@openrouter/sdk` 1.3.19, `ObservabilityRampDestinationConfig` */
const HOST = 'https://api.ramp.com/developer/v1/ai-usage/openrouter';

const schema = z.strictObject({
  apiKey: secretMember,
  baseUrl: baseUrlMember(HOST),
  headers: headersMember.optional(),
  ...otlpMembers,
});

/**
 * For spending: content is never sent, and cost always is.
 *
 * Experimental: no public page says path and header (looked for in 2026-11); they are those of any receiver of OTLP.
 */
export const ramp = otlpDestination({
  type: 'ramp',
  label: 'Ramp (experimental)',
  schema,
  secrets: ['apiKey', 'headers'],
  encoding: 'json',
  shape: 'generation',
  isForSpending: true,
  address: ({ baseUrl = HOST, apiKey, headers = {} }) => ({
    url: withPath(baseUrl, '/v1/traces'),
    headers: { ...headers, authorization: `Bearer ${apiKey}` },
  }),
  keyMembers: 'config.apiKey',
});
