import type { UrlCitation } from '../../../canonical/blocks.ts';
import type { CitationEvent } from '../../../canonical/events.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../json-fields.ts';
import type { TextPositions, Stretch } from './text-positions.ts';

/** Sources of one response that are passed on. */
const CITATIONS_MAX = 1_000;

interface Range {
  readonly from: number;
  readonly to: number;
  readonly quote?: string;
}

/**
 * Sources that the response rests on: one citation for each source of each stretch. Without any stretch they are sources of
 * the whole. @param isOpen whether a block may still be cited; a block that has ended is cited as the whole response
 * @spec translate-30; the vendor's reference of `GroundingMetadata`, read 2026-11
 */
export function groundingCitations(
  metadata: JsonObject,
  text: TextPositions,
  isOpen: (block: number) => boolean,
): readonly CitationEvent[] {
  const sources = itemsOf(metadata['groundingChunks']).map((chunk) => decodeSource(objectOf(chunk) ?? {}));
  const supports = objectsOf(metadata['groundingSupports']).slice(0, CITATIONS_MAX);
  if (supports.length === 0)
    return sources
      .flatMap((source) => (source === undefined ? [] : [cite(source, undefined, isOpen)]))
      .slice(0, CITATIONS_MAX);
  const stretches = text.find(supports.map((support) => decodeRange(objectOf(support['segment']))));
  const citations = supports.flatMap((support, at) =>
    itemsOf(support['groundingChunkIndices']).flatMap((index) => {
      const source = typeof index === 'number' ? sources[index] : undefined;
      return source === undefined ? [] : [cite(source, stretches[at], isOpen)];
    }),
  );
  return citations.slice(0, CITATIONS_MAX);
}

/** Sources that the response quotes at length. The vendor's reference of `CitationMetadata`, read 2026-11 */
export function quotedCitations(
  metadata: JsonObject,
  text: TextPositions,
  isOpen: (block: number) => boolean,
): readonly CitationEvent[] {
  // The one name at AI Studio, the other at Vertex.
  const quoted = [...objectsOf(metadata['citationSources']), ...objectsOf(metadata['citations'])].slice(
    0,
    CITATIONS_MAX,
  );
  const stretches = text.find(quoted.map(decodeRange));
  return quoted.flatMap(({ uri, title }, at) => {
    const url = textOf(uri);
    if (url === undefined || url === '') return [];
    return [cite({ url, ...titled(title) }, stretches[at], isOpen)];
  });
}

/** The number of queries of the vendor's own search; `undefined` where there was no search. */
export function countSearches(metadata: JsonObject): number | undefined {
  const queries = itemsOf(metadata['webSearchQueries']).filter((query) => typeof query === 'string' && query !== '');
  return queries.length === 0 ? undefined : new Set(queries).size;
}

function decodeRange(segment: JsonObject | undefined): Range {
  const { startIndex, endIndex, text } = segment ?? {};
  return { from: offsetOf(startIndex), to: offsetOf(endIndex), ...(typeof text === 'string' && { quote: text }) };
}

function offsetOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

type Source = Pick<UrlCitation, 'url' | 'title' | 'excerpt'>;

/** A web page, a place, a picture, or a document that a search of the operator's own found. */
function decodeSource({ web, maps, image, retrievedContext }: JsonObject): Source | undefined {
  const found = objectOf(web) ?? objectOf(maps) ?? objectOf(image) ?? objectOf(retrievedContext);
  // Of a picture the page that it stands on is to be named, not its file.
  const url = textOf(found?.['uri']) ?? textOf(found?.['sourceUri']);
  if (found === undefined || url === undefined || url === '') return undefined;
  const excerpt = textOf(found['text']);
  return { url, ...titled(found['title']), ...(excerpt !== undefined && excerpt !== '' && { excerpt }) };
}

function titled(title: unknown): Pick<Source, 'title'> {
  return typeof title === 'string' && title !== '' ? { title } : {};
}

function cite(source: Source, stretch: Stretch | undefined, isOpen: (block: number) => boolean): CitationEvent {
  const index = stretch !== undefined && isOpen(stretch.block) ? stretch.block : -1;
  const place = stretch === undefined ? {} : { start: stretch.start, end: stretch.end };
  return { type: 'citation', index, citation: { type: 'url', ...source, ...place } };
}
