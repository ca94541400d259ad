import { z } from 'zod';
import { generationListItemSchema } from '../management/generations/list.ts';

/** What a live view may ask for, besides everything. */
export const liveQuerySchema = z.strictObject({
  key: z.string().optional().describe('The hash of a key.'),
  workspace: z.string().optional().describe('Its id.'),
  model: z.string().optional().describe('The one that served; `acme/*` for all that begin so.'),
  provider: z.string().optional().describe('Its name, as rows have it.'),
  session: z.string().optional(),
  status: z.string().optional().describe('A class, `error` for 400 and more, or one status.'),
});

const countsSchema = z.strictObject({
  requests: z.int(),
  errors: z.int(),
  tokens: z.int(),
  cost: z.number().describe('USD, of those whose price is known.'),
  per: z.record(z.string(), z.int()).describe('Requests by class of status: `2xx`.'),
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
