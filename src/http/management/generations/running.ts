import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { sightOf } from './sight.ts';

const text = z.string().nullable();
const count = z.int().nonnegative();

const runningSchema = z
  .strictObject({
    id: z.string(),
    request_id: text.describe('Of the request of the caller, which may run several.'),
    api_key_hash: z.string(),
    api_key_name: text,
    workspace_id: text,
    api_type: z.string().describe('`completions`, or the kind of another operation.'),
    requested_model: z.string(),
    model: text.describe('Null: no endpoint responds yet.'),
    provider_name: text,
    streamed: z.boolean(),
    age_ms: count,
    time_to_first_token: count.nullable().describe('Ms. Null: nothing came yet.'),
    tokens_so_far: count.describe('Estimated by the bytes that came.'),
    failed_attempts: count,
  })
  .meta({ id: 'RunningGeneration' });

const FACTS = { scope: 'any', role: 'member', tag: 'Generations', query: NOTHING, body: NO_BODY } as const;

export const listRunningGenerations = defineRoute({
  ...FACTS,
  method: 'GET',
  path: '/generations/running',
  operationId: 'listRunningGenerations',
  summary: 'List generations that are under way in all processes, newest first; a normal key sees its own',
  params: NOTHING,
  responses: {
    200: {
      description: 'The newest 100.',
      schema: z.strictObject({
        data: z.array(runningSchema),
        total_count: count,
        processes: count.describe('Processes that replied within half a second.'),
      }),
    },
  },
  errors: [],
  users: 'narrowed',
  async handle({ services, ...context }) {
    const { rows, total, processes } = await services.operations.running.list(sightOf(context));
    return {
      status: 200,
      body: {
        data: rows.map((row) => ({
          id: row.id,
          request_id: row.requestId,
          api_key_hash: row.keyHash,
          api_key_name: row.keyName,
          workspace_id: row.workspaceId,
          api_type: row.kind,
          requested_model: row.requested,
          model: row.model,
          provider_name: row.providerName,
          streamed: row.isStreamed,
          age_ms: row.ageMs,
          time_to_first_token: row.firstTokenMs,
          tokens_so_far: row.tokens,
          failed_attempts: row.failedAttempts,
        })),
        total_count: total,
        processes,
      },
    };
  },
});

/** @spec generation-18 */
export const stopGeneration = defineRoute({
  ...FACTS,
  method: 'POST',
  path: '/generations/{id}/stop',
  operationId: 'stopGeneration',
  summary: 'End a generation that is under way, in whichever process; what came of it is charged',
  auditsEveryKey: true,
  params: z.strictObject({ id: z.string().min(1).max(256).describe('The `id` of the response.') }),
  responses: {
    200: {
      description: 'Its upstream is cut off, and its caller gets an error.',
      schema: z.strictObject({ stopped: z.literal(true) }),
    },
  },
  errors: [400, 404],
  users: 'narrowed',
  async handle({ params, services, ...context }) {
    const wasStopped = await services.operations.running.stop(params.id, sightOf(context));
    if (!wasStopped) throw new GatewayError('not_found', 'No such generation is under way. It may have ended.');
    return { status: 200, body: { stopped: true } };
  },
});
