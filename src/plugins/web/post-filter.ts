import { z } from 'zod';
import type { PostFilter } from '../../canonical/tools/native-web-search.ts';

const HANDLES_MAX = 20;

const handles = z.array(z.string().min(1)).max(HANDLES_MAX).nullish();
const date = z.iso.date().nullish();

/** @spec web-16 */
const filterShape = z
  .object({
    allowed_x_handles: handles,
    excluded_x_handles: handles,
    from_date: date,
    to_date: date,
    enable_image_understanding: z.boolean().nullish(),
    enable_video_understanding: z.boolean().nullish(),
  })
  .refine(({ allowed_x_handles: allowed, excluded_x_handles: excluded }) => !allowed?.length || !excluded?.length);

/** A filter that is none is dropped without a word, and all posts are searched. `undefined`: none are to be. @spec web-16 */
export function readPostFilter(requested: unknown): PostFilter | undefined {
  if (requested === undefined || requested === null) return undefined;
  const { data: filter } = filterShape.safeParse(requested);
  if (filter === undefined) return {};
  const { allowed_x_handles: allowed, excluded_x_handles: excluded, from_date: from, to_date: to } = filter;
  const { enable_image_understanding: images, enable_video_understanding: videos } = filter;
  return {
    ...(allowed?.length && { allowedHandles: allowed }),
    ...(excluded?.length && { excludedHandles: excluded }),
    ...(typeof from === 'string' && { fromDate: from }),
    ...(typeof to === 'string' && { toDate: to }),
    ...(typeof images === 'boolean' && { readsImages: images }),
    ...(typeof videos === 'boolean' && { readsVideos: videos }),
  };
}
