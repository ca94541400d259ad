import { z } from 'zod';
import { filterShape, generationListItemSchema } from '../management/generations/list.ts';

/** What a live view may ask for, besides everything: what lists are filtered by, but for the time. */
export const liveQuerySchema = z.strictObject(filterShape).omit({ from: true, to: true });

const countsSchema = z.strictObject({
  requests: z.int(),
  errors: z.int(),
  tokens: z.int(),
  cost: z.number().describe('USD, of those whose price is known.'),
  per: z.record(z.string(), z.int()).describe('Requests by class of status: `2xx`.'),
  sampled: z
    .boolean()
    .describe(
      'More happened than is counted: of a session that sees its own requests alone, beyond 1,000 a second in all.',
    ),
});

/** The data of the events of `GET /ui/api/live`, by their names. */
export const LIVE_EVENT_SCHEMAS = {
  rows: z
    .strictObject({
      rows: z.array(generationListItemSchema),
      sampled: z.boolean().describe('There were more in this moment than a view gets.'),
    })
    .meta({ id: 'LiveRows' }),
  counts: countsSchema.meta({ id: 'LiveCounts' }),
  gap: z
    .strictObject({ missed: z.int().nullable().describe('Null: their number is not known.') })
    .meta({ id: 'LiveGap' }),
} as const;
