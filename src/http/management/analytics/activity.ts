import { z } from 'zod';
import { serializeActivity } from '../../../telemetry/analytics/activity.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

const usd = z.number().describe('USD.');

/** @spec analytics-1; `@openrouter/sdk` 1.3.19, `ActivityItem` */
const activitySchema = z
  .strictObject({
    date: z.iso.date(),
    model: z.string(),
    model_permaslug: z.string(),
    endpoint_id: z.string().describe('Always the same one for a model at a provider.'),
    provider_name: z.string(),
    workspace_id: z.string().optional(),
    requests: z.int(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    reasoning_tokens: z.int(),
    usage: usd,
    byok_usage_inference: usd.describe("USD at list price of calls with the account's own credentials."),
  })
  .meta({ id: 'ActivityItem' });

export const getActivity = defineRoute({
  method: 'GET',
  path: '/activity',
  scope: 'management',
  readsRecords: true,
  operationId: 'getUserActivity',
  tag: 'Analytics',
  summary: 'Sums of the last 30 completed UTC days, by day, model and endpoint',
  params: NOTHING,
  query: z.strictObject({
    date: z.iso.date().optional().describe('Only this day.'),
    api_key_hash: z.string().min(1).max(256).optional().describe('Only this key.'),
    user_id: z.string().min(1).max(256).optional().describe('Only this member.'),
    workspace_id: z.string().min(1).max(256).optional().describe('Only this workspace.'),
    group_by: z.enum(['workspace']).optional().describe('Separates workspaces, too.'),
  }),
  body: NO_BODY,
  responses: {
    200: { description: 'Rows, the newest day first.', schema: z.strictObject({ data: z.array(activitySchema) }) },
  },
  errors: [400, 404, 408],
  async handle({ query, services }) {
    const { workspace_id: named } = query;
    const workspace = named === undefined ? undefined : await services.workspaces.get(named);
    const data = await serializeActivity(services.analytics, {
      date: query.date,
      keyHash: query.api_key_hash,
      memberId: query.user_id,
      workspaceId: workspace?.id,
      byWorkspace: query.group_by === 'workspace',
    });
    const names = new Map(services.listing.providers().map(({ slug, name }) => [slug, name]));
    const serialized = data.map((item) => ({
      ...item,
      provider_name: names.get(item.provider_name) ?? item.provider_name,
    }));
    return { status: 200, body: { data: serialized } };
  },
});
