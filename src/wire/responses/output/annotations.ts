import type { Citation } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { fieldsOf, withExtra } from '../../extra.ts';

/** Whether the citation lacks its place in the text. */
export function isPlaceless(citation: Citation): boolean {
  return citation.type === 'url' && citation.end === undefined;
}

/**
 * @param textStart where the text begins in the text of the whole response: citations count from the beginning of that one, and
 *   annotations from the beginning of their part
 * @param chars of the text
 * @returns `undefined` for a citation that only another format can express
 */
export function encodeAnnotation(citation: Citation, textStart: number, chars: number): JsonObject | undefined {
  if (citation.type === 'opaque') return citation.format === 'responses' ? citation.value : undefined;
  const { url, title, start, end, excerpt } = citation;
  const own: JsonObject = {
    type: 'url_citation',
    url,
    title: title ?? hostOf(url),
    start_index: start === undefined ? 0 : Math.max(0, start - textStart),
    end_index: end === undefined ? chars : Math.max(0, end - textStart),
    ...(excerpt !== undefined && { content: excerpt }),
  };
  return withExtra(own, fieldsOf(citation, 'responses'));
}

/** Clients demand a title. */
function hostOf(url: string): string {
  return URL.parse(url)?.host || url;
}
