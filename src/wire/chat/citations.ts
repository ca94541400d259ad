import type { ResponseCitation } from '../../canonical/response.ts';
import type { Block, Citation } from '../../canonical/blocks.ts';
import type { FormatId } from '../../canonical/extra.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { asExtra, nestRest, restOf, withExtra } from '../extra.ts';
import { joinResponseText } from '../../canonical/text-gap.ts';

const ANNOTATION_MEMBERS: ReadonlySet<string> = new Set(['type', 'url_citation']);
const URL_MEMBERS: ReadonlySet<string> = new Set(['url', 'title', 'start_index', 'end_index', 'content']);

/** Where a text stands in the text of the whole response, in characters. */
interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** @spec chat-18; what is no URL citation (a parsed file) stays closed */
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
 * @returns `undefined` for a citation that only another format can express
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

/** Whether the citation lacks the position of the text that it belongs to. */
export function isPlaceless(citation: Citation): boolean {
  return citation.type === 'url' && citation.end === undefined;
}

/**
 * All citations as one list, in the order of a stream: those of a text, then those of the whole response that came before
 * the next block, and at last those that stand on all of its text.
 * @param format that the blocks came in, which decides how their texts are joined
 */
export function encodeAnnotations(
  format: FormatId | undefined,
  blocks: readonly Block[],
  whole: readonly ResponseCitation[],
): readonly JsonObject[] {
  if (whole.length === 0 && !blocks.some(isCited)) return NONE;
  const { text, starts } = joinResponseText(format, blocks);
  const ofTexts = blocks.flatMap((block, index) => {
    const start = starts.get(block);
    if (block.type !== 'text' || start === undefined) return [];
    const range = { start, end: start + block.text.length };
    return (block.citations ?? []).map((citation) => ({ citation, range, afterBlocks: index + 1 }));
  });
  const ofAll = whole.map(({ citation, afterBlocks }) => ({
    citation,
    range: { start: 0, end: text.length },
    afterBlocks: isPlaceless(citation) ? blocks.length + 1 : afterBlocks,
  }));
  return [...ofTexts, ...ofAll]
    .toSorted((left, right) => left.afterBlocks - right.afterBlocks)
    .map(({ citation, range }) => encodeAnnotation(citation, range))
    .filter((annotation) => annotation !== undefined);
}

const NONE: readonly JsonObject[] = [];

function isCited(block: Block): boolean {
  return block.type === 'text' && block.citations !== undefined && block.citations.length > 0;
}
