import { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import type { SchemaComponents } from './components.ts';
import { jsonBody } from './content.ts';
import { serializeErrors } from './errors.ts';

const instructions = z.union([z.string(), z.looseObject({})]);
const question = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('choice'),
    instructions,
    criteria: z.record(z.string(), z.string().nullable()),
  }),
  z.looseObject({ type: z.literal('score'), instructions, criteria: z.array(z.string()).min(2).max(10) }),
  z.looseObject({
    type: z.literal('noul'),
    instructions,
    criteria: z.strictObject({ true: z.string().optional(), false: z.string().optional() }).optional(),
  }),
]);

const certainty = { confidence: z.number().min(0).max(1), spread: z.number().min(0).max(1) };
const probability = z.number().min(0).max(1);
const answer = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('choice'),
    choice: z.string(),
    probabilities: z.record(z.string(), probability),
    ...certainty,
  }),
  z.looseObject({
    type: z.literal('score'),
    score: z.number().min(0).describe('The mean of the levels, weighted by their probabilities.'),
    level: z.int().min(0).describe('The likeliest level.'),
    legend: z.record(z.string(), z.string()).describe('The criteria by level, from 0.'),
    probabilities: z.record(z.string(), probability).describe('By level, from 0.'),
    ...certainty,
  }),
  z.looseObject({ type: z.literal('noul'), noul: probability, ...certainty }),
]);

const decisionsResultSchema = z.looseObject({
  id: z.string(),
  model: z.string(),
  provider: z.string(),
  created: z.int(),
  answers: z.record(z.string(), answer),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), cost: z.number().nullable() }),
  emulated: z.boolean(),
  method: z.enum(['native', 'logprobs', 'schema']),
  orders: z.int().min(1),
  calibration: z
    .looseObject({ name: z.string(), temperature: z.record(z.string(), z.number()) })
    .nullable()
    .describe('What was applied to the probabilities, by type of question.'),
  generations: z.array(z.string()),
});

/** @param request its members but for `state` and `questions`, which are checked by themselves */
export function serializeDecisions(
  components: SchemaComponents,
  request: z.ZodObject<z.ZodRawShape>,
  error: JsonObject,
): JsonObject {
  const whole = request.extend({
    state: z.union([z.string().min(1), z.looseObject({}), z.array(z.unknown()), z.number(), z.boolean()]),
    questions: z.record(z.string(), question),
  });
  return {
    operationId: 'createDecision',
    tags: ['Decisions'],
    summary: 'Answer typed questions about a state with probabilities',
    description: 'Found at the root of the host, too: /alpha/decisions and /api/alpha/decisions.',
    security: [{ apiKey: [] }],
    requestBody: jsonBody(components.add('DecisionsRequest', whole, 'input')),
    responses: {
      200: {
        description: 'The probabilities of the options of each question.',
        content: {
          'application/json': { schema: components.add('DecisionsResponse', decisionsResultSchema, 'output') },
        },
      },
      ...serializeErrors([400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 524, 529], error),
    },
  };
}
