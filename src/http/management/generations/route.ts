import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { generationIdOf } from '../../../wire/responses/response/response-out.ts';
import { isInSight } from './sight.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

const text = z.string().nullable();
const ms = z.number().nullable();
const jsonObject = z.looseObject({});

/** Stored decisions stay readable, whatever later versions write. @source src/telemetry/route-log/route-decision.ts */
const decisionSchema = z
  .looseObject({
    requested: z.string(),
    strategy: z.string(),
    ordering: text.describe('Null: no route was looked for.'),
    session_held: z.boolean().describe('The session is tied to one of them.'),
    considered: z
      .array(
        z.looseObject({
          provider: z.string(),
          tag: z.string(),
          model: z.string(),
          upstream_model: z.string(),
          outcome: z.enum(['served', 'failed', 'not_needed', 'resting', 'excluded']),
          order: z.int().nullable().describe('From 1. Null: it was not to be tried.'),
          reason: text.describe('Why it was left out.'),
          lacks: text.describe('The parameter, modality or member that it lacks.'),
          demoted_by: text.describe('A preference that it does not meet, so that it came last.'),
          rest_ms: ms.describe('So long it still rested.'),
          price: jsonObject.nullable().describe('USD, as the catalog had it. Null: unknown.'),
        }),
      )
      .describe('Every endpoint of the models, at most 200.'),
    considered_more: z.int().describe('Further ones.'),
    attempts: z.array(
      z.looseObject({
        provider: z.string(),
        tag: z.string(),
        model: z.string(),
        status: z.int().nullable().describe('Null: nothing came.'),
        latency_ms: z.number(),
        credential: text.describe('The masked label of a credential that was brought.'),
      }),
    ),
    stages: z.array(
      z.looseObject({
        type: z.string(),
        name: z.string(),
        summary: text,
        guardrail_id: text,
        guardrail_scope: text,
        data: jsonObject.nullable(),
        cost: z.number().nullable().describe('USD.'),
      }),
    ),
    params: jsonObject.describe("A router's parameters, and the model that its choice is compared with."),
    first_token_ms: ms,
    total_ms: z.number(),
  })
  .meta({ id: 'GenerationRoute' });

export const getGenerationRoute = defineRoute({
  method: 'GET',
  path: '/generation/route',
  scope: 'any',
  role: 'member',
  readsRecords: true,
  operationId: 'getGenerationRoute',
  tag: 'Generations',
  summary: 'How a generation was routed, with every endpoint that was left out and why; a normal key sees its own',
  params: NOTHING,
  query: z.strictObject({ id: z.string().min(1).max(256).describe('The `id` of the response.') }),
  body: NO_BODY,
  responses: {
    200: { description: 'The decision, as it was made.', schema: z.strictObject({ data: decisionSchema }) },
  },
  errors: [400, 403, 404],
  users: 'narrowed',
  async handle({ query, principal, viewer, services }) {
    const record = await services.generations.find(generationIdOf(query.id) ?? query.id);
    if (record === undefined || !isInSight(viewer, record))
      throw new GatewayError('not_found', 'There is no such generation.');
    if (principal?.kind !== 'management' && principal?.keyHash !== record.keyHash)
      throw new GatewayError('permission_denied', 'Only its own key and management keys see its route.');
    const decision = await services.routes.find(record.id);
    if (decision === undefined)
      throw new GatewayError(
        'not_found',
        'Its route was not kept. Those of requests that fail, fall back, pass a plugin, router, tool or guardrail or want metadata are, for observability.route_log.days; of others a share is.',
      );
    return { status: 200, body: { data: decisionSchema.parse(decision) } };
  },
});
