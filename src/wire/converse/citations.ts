import type { Citation, OpaqueCitation, UrlCitation } from '../../canonical/blocks.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { objectAt, objectsOf, textOf, type WireObject } from '../json-fields.ts';

/** One kind of position in a document, in this format and in the messages format. */
interface Place {
  /** Member of `location` here. */
  readonly here: string;
  /** `type` there. */
  readonly there: string;
  readonly index: readonly [here: string, there: string];
  readonly start: string;
  readonly end: string;
}

const DOCUMENT_INDEX = ['documentIndex', 'document_index'] as const;

/** @source AWS SDK `CitationLocation`, 3.1162 (2026-11); @spec translate-30 */
const PLACES: readonly Place[] = [
  {
    here: 'documentChar',
    there: 'char_location',
    index: DOCUMENT_INDEX,
    start: 'start_char_index',
    end: 'end_char_index',
  },
  {
    here: 'documentPage',
    there: 'page_location',
    index: DOCUMENT_INDEX,
    start: 'start_page_number',
    end: 'end_page_number',
  },
  {
    here: 'documentChunk',
    there: 'content_block_location',
    index: DOCUMENT_INDEX,
    start: 'start_block_index',
    end: 'end_block_index',
  },
  {
    here: 'searchResultLocation',
    there: 'search_result_location',
    index: ['searchResultIndex', 'search_result_index'],
    start: 'start_block_index',
    end: 'end_block_index',
  },
];

/**
 * A web source becomes a citation that every format can express. Positions in documents are the same as in the messages
 * format under other names, so they become that format's: its callers read them, and send them back.
 */
export function decodeCitation(value: JsonObject): Citation {
  const location = objectAt(value, 'location');
  const title = textOf(value['title']);
  const excerpt = objectsOf(value['sourceContent'])
    .map((part) => textOf(part['text']) ?? '')
    .join('');
  const web = objectAt(location, 'web');
  const url = textOf(web['url']);
  if (url !== undefined) return decodeWebSource(url, web, title, excerpt);
  const place = PLACES.find(({ here }) => isJsonObject(location[here]));
  if (place === undefined) return { type: 'opaque', format: 'converse', value };
  const at = objectAt(location, place.here);
  const search = place.here === 'searchResultLocation';
  return {
    type: 'opaque',
    format: 'messages',
    value: {
      type: place.there,
      cited_text: excerpt,
      [place.index[1]]: numberOf(at[place.index[0]]),
      ...(search && { source: textOf(value['source']) ?? '' }),
      [search ? 'title' : 'document_title']: title ?? null,
      [place.start]: numberOf(at['start']),
      [place.end]: numberOf(at['end']),
      // @spec translate-30: answers have it where the place is in a document.
      ...(!search && { file_id: null }),
    },
  };
}

function decodeWebSource(url: string, web: JsonObject, title: string | undefined, excerpt: string): UrlCitation {
  const domain = textOf(web['domain']);
  return {
    type: 'url',
    url,
    ...(title !== undefined && { title }),
    ...(excerpt !== '' && { excerpt }),
    extra: { format: 'converse', fields: { ...(domain !== undefined && { domain }) } },
  };
}

/** A citation in a request; `undefined` for one that this format never gave. */
export function encodeCitation(citation: Citation): WireObject | undefined {
  if (citation.type === 'url') return citation.extra?.format === 'converse' ? encodeWebSource(citation) : undefined;
  if (citation.format === 'converse') return { ...citation.value };
  return citation.format === 'messages' ? encodePlace(citation) : undefined;
}

function encodeWebSource({ url, title, excerpt, extra }: UrlCitation): WireObject {
  return {
    ...(title !== undefined && { title }),
    ...(excerpt !== undefined && { sourceContent: [{ text: excerpt }] }),
    location: { web: { url, ...extra?.fields } },
  };
}

function encodePlace({ value }: OpaqueCitation): WireObject | undefined {
  const place = PLACES.find(({ there }) => there === value['type']);
  if (place === undefined) return undefined;
  const title = textOf(value['document_title']) ?? textOf(value['title']);
  const source = textOf(value['source']);
  return {
    ...(title !== undefined && { title }),
    ...(source !== undefined && { source }),
    sourceContent: [{ text: textOf(value['cited_text']) ?? '' }],
    location: {
      [place.here]: {
        [place.index[0]]: numberOf(value[place.index[1]]),
        start: numberOf(value[place.start]),
        end: numberOf(value[place.end]),
      },
    },
  };
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
