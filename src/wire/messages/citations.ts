import type { Citation } from '../../canonical/blocks.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { textOf, type WireObject } from '../json-fields.ts';
import { addExtra, extraOf } from './extra.ts';

const WEB_MEMBERS: ReadonlySet<string> = new Set(['type', 'url', 'title', 'cited_text']);

/** A web source becomes a citation that every format can express; the others point into documents that only this one knows. */
export function decodeCitation(value: JsonObject): Citation {
  const url = textOf(value['url']);
  if (value['type'] !== 'web_search_result_location' || url === undefined)
    return { type: 'opaque', format: 'messages', value };
  const title = textOf(value['title']);
  const excerpt = textOf(value['cited_text']);
  return {
    type: 'url',
    url,
    ...(title !== undefined && { title }),
    ...(excerpt !== undefined && { excerpt }),
    ...extraOf(value, WEB_MEMBERS),
  };
}

/** `undefined` for anything but a list. */
export function decodeCitations(value: Json | undefined): readonly Citation[] | undefined {
  return Array.isArray(value) ? value.filter(isJsonObject).map(decodeCitation) : undefined;
}

/**
 * A citation in a response; `undefined` where this format cannot express it. A source that another format named has no
 * `encrypted_index`: it gets an empty one, which shows the source to the reader and is removed again on replay.
 */
export function encodeCitation(citation: Citation): WireObject | undefined {
  if (citation.type === 'opaque') return citation.format === 'messages' ? { ...citation.value } : undefined;
  const encoded: WireObject = {
    type: 'web_search_result_location',
    cited_text: citation.excerpt ?? '',
    url: citation.url,
    title: citation.title ?? null,
  };
  addExtra(encoded, citation.extra);
  encoded['encrypted_index'] ??= '';
  return encoded;
}

/** A citation in a request. One that the vendor never gave would be refused by it, so it is left out. */
export function encodeReplayedCitation(citation: Citation): WireObject | undefined {
  const encoded = encodeCitation(citation);
  return encoded?.['encrypted_index'] === '' ? undefined : encoded;
}
