import type { Citation } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { asExtra, restOf } from '../../extra.ts';

const URL_MEMBERS: ReadonlySet<string> = new Set(['type', 'url', 'title', 'start_index', 'end_index']);

/**
 * A source of a text; offsets count in that text alone, in units that the vendor does not name. What points into files
 * of the vendor's own store (`file_citation`, `container_file_citation`, `file_path`) stays closed.
 * @spec translate-30
 */
export function decodeAnnotation(annotation: JsonObject): Citation {
  const { url, title, start_index: start, end_index: end } = annotation;
  if (typeof url !== 'string') return { type: 'opaque', format: 'responses', value: annotation };
  return {
    type: 'url',
    url,
    ...(typeof title === 'string' && { title }),
    ...(isOffset(start) && { start }),
    ...(isOffset(end) && { end }),
    ...asExtra('responses', restOf(annotation, URL_MEMBERS)),
  };
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
