import type { Block, Citation } from '../../canonical/blocks.ts';
import type { FormatId } from '../../canonical/extra.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { asExtra, nestRest, restOf, withExtra } from '../extra.ts';
import { joinAnswerText } from '../text-gap.ts';

const ANNOTATION_MEMBERS: ReadonlySet<string> = new Set(['type', 'url_citation']);
const URL_MEMBERS: ReadonlySet<string> = new Set(['url', 'title', 'start_index', 'end_index', 'content']);

/** Where a text stands in the text of the whole answer, in characters. */
interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** @source generation.md 1.5; what is no URL citation (a parsed file) stays closed */
export function decodeAnnotation(annotation: JsonObject): Citation {
  const cited = annotation['url_citation'];
  if (annotation['type'] !== 'url_citation' || !isJsonObject(cited) || typeof cited['url'] !== 'string')
    return { type: 'opaque', format: 'chat', value: annotation };
  const { title, start_index: start, end_index: end, content } = cited;
  const rest = nestRest(restOf(annotation, ANNOTATION_MEMBERS), 'url_citation', restOf(cited, URL_MEMBERS));
  return {
    type: 'url',
    url: cited['url'],
    ...(typeof title === 'string' && { title }),
    ...(typeof start === 'number' && { start }),
    ...(typeof end === 'number' && { end }),
    ...(typeof content === 'string' && { excerpt: content }),
    ...asExtra('chat', rest),
  };
}

/**
 * @param range stands in where the citation itself names no place: the text that it was found on
 * @returns `undefined` for what only another format can say
 */
export function encodeAnnotation(citation: Citation, range: TextRange): JsonObject | undefined {
  if (citation.type === 'opaque') return citation.format === 'chat' ? citation.value : undefined;
  const own: JsonObject = {
    type: 'url_citation',
    url_citation: {
      url: citation.url,
      // Demanded by the format.
      title: citation.title ?? citation.url,
      start_index: citation.start ?? range.start,
      end_index: citation.end ?? range.end,
      ...(citation.excerpt !== undefined && { content: citation.excerpt }),
    },
  };
  return withExtra(own, citation.extra?.format === 'chat' ? citation.extra.fields : undefined);
}

/**
 * All citations of the texts among these blocks as one list, then those of the whole.
 * @param format that the blocks came in, which says how their texts are joined
 */
export function encodeAnnotations(
  format: FormatId | undefined,
  blocks: readonly Block[],
  whole: readonly Citation[],
): readonly JsonObject[] {
  const { text, starts } = joinAnswerText(format, blocks);
  const annotations: JsonObject[] = [];
  for (const [block, start] of starts) {
    if (block.type !== 'text') continue;
    const range = { start, end: start + block.text.length };
    for (const citation of block.citations ?? []) append(annotations, citation, range);
  }
  for (const citation of whole) append(annotations, citation, { start: 0, end: text.length });
  return annotations;
}

function append(annotations: JsonObject[], citation: Citation, range: TextRange): void {
  const annotation = encodeAnnotation(citation, range);
  if (annotation !== undefined) annotations.push(annotation);
}
