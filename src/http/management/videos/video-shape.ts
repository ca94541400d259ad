import { z } from 'zod';

export const videoPathSchema = z.strictObject({ job_id: z.string().max(200).describe('The id of a job: `vid_...`.') });

export const clipBytes = z.string().meta({ format: 'binary' });
const INDEX_MAX = 63;
export const clipIndex = z.coerce
  .number()
  .pipe(z.int().min(0).max(INDEX_MAX))
  .optional()
  .describe('Which clip. Default: 0.');

const STATUSES = ['pending', 'in_progress', 'completed', 'failed', 'cancelled', 'expired'] as const;
export const videoStatus = z.enum(STATUSES);

/** A job in the gateway's own shape; one that OpenAI's client began has that client's members. */
export const videoJobSchema = z
  .looseObject({
    id: z.string(),
    polling_url: z.string().optional(),
    status: z.string().describe('`pending`, `in_progress`, `completed`, `failed`, `cancelled` or `expired`.'),
    generation_id: z.string().optional(),
    model: z.string(),
    provider: z.string().optional(),
    created_at: z.int().describe('Unix seconds.'),
    progress: z.int().optional().describe('Per cent, where the provider says it.'),
    duration: z.number().optional().describe('Seconds.'),
    expires_at: z.int().nullish().describe('Until then the clips can be read.'),
    unsigned_urls: z.array(z.string()).optional().describe('The clips. They need the key.'),
    usage: z.strictObject({ cost: z.number().nullable(), is_byok: z.boolean() }).optional(),
  })
  .meta({ id: 'VideoGenerationResponse' });

export const videoListSchema = z
  .strictObject({
    object: z.literal('list'),
    data: z.array(videoJobSchema),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  })
  .meta({ id: 'VideoJobsList' });
