import { z } from 'zod';
import { assert } from '../../../lib/assert.ts';
import { TRAFFIC_DAYS } from '../../../telemetry/task-traffic.ts';
import { sharesOf } from '../../../telemetry/task-shares.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

const share = z.number().min(0).max(1);

/** @spec router-37; `@openrouter/sdk` 1.3.19, `TaskClassificationResponse` */
const tasksSchema = z
  .strictObject({
    window_days: z.int(),
    as_of: z.iso.date(),
    classifications: z.array(
      z.strictObject({
        tag: z.string().describe('`code:debugging`; without a prefix it is of the category `general`.'),
        display_name: z.string(),
        macro_category: z.enum(['code', 'data', 'agent', 'general']),
        usage_share: share.describe('Of what was spent; of requests where nothing was.'),
        token_share: share,
        category_usage_share: share,
        category_token_share: share,
        models: z.array(z.strictObject({ id: z.string(), tag_usage_share: share, tag_token_share: share })),
      }),
    ),
    macro_categories: z.array(
      z.strictObject({ key: z.string(), label: z.string(), usage_share: share, token_share: share }),
    ),
  })
  .meta({ id: 'TaskClassifications' });

export const getTaskClassifications = defineRoute({
  method: 'GET',
  path: '/classifications/task',
  scope: 'any',
  role: 'member',
  readsRecords: true,
  operationId: 'getTaskClassifications',
  tag: 'Classifications',
  summary: 'What the requests of this gateway are about, as shares',
  params: NOTHING,
  query: z.strictObject({ window: z.enum(['7d']).optional() }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'Shares of the requests that were looked at: no counts and no texts.',
      schema: z.strictObject({ data: tasksSchema }),
    },
  },
  errors: [400, 429],
  async handle({ principal, services: { insights } }) {
    assert(principal !== undefined, 'only a key gets here');
    await insights.take(principal);
    const { tasks, categories } = sharesOf(insights.taskGroups());
    const data: z.output<typeof tasksSchema> = {
      window_days: TRAFFIC_DAYS,
      as_of: new Date(insights.nowMs()).toISOString().slice(0, 10),
      classifications: tasks.map((task) => ({
        tag: task.tag,
        display_name: serializeName(task.tag),
        macro_category: task.category,
        usage_share: task.usageShare,
        token_share: task.tokenShare,
        category_usage_share: task.categoryUsageShare,
        category_token_share: task.categoryTokenShare,
        models: task.models.map(({ id, usageShare, tokenShare }) => ({
          id,
          tag_usage_share: usageShare,
          tag_token_share: tokenShare,
        })),
      })),
      macro_categories: categories.map(({ category, usageShare, tokenShare }) => ({
        key: category,
        label: serializeName(category),
        usage_share: usageShare,
        token_share: tokenShare,
      })),
    };
    return { status: 200, body: { data } };
  },
});

function serializeName(tag: string): string {
  const words = tag.slice(tag.indexOf(':') + 1).replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
