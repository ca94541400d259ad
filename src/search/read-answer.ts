import type { WebSearchHit } from '../canonical/tools/web-search.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';

/** Between pieces of a page that do not follow each other. @spec chat-response-9 */
const GAP = '\n[...]\n';

/** Of the address of a result. */
const URL_CHARS_MAX = 4_096;

/** The hits of a list of results; those without an address are left out. `undefined`: there is no list. */
export function readHits(
  list: Json | undefined,
  read: (result: JsonObject) => Omit<WebSearchHit, 'url' | 'title'>,
): readonly WebSearchHit[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.filter(isJsonObject).flatMap((result) => {
    const { url, title } = result;
    if (typeof url !== 'string' || !isPage(url)) return [];
    return [{ url, title: typeof title === 'string' && title !== '' ? title : url, ...read(result) }];
  });
}

/** Callers show it as a link: nothing that a browser would run, and nothing longer than any page's address. */
function isPage(url: string): boolean {
  return url.length <= URL_CHARS_MAX && /^https?:$/.test(URL.parse(url)?.protocol ?? '');
}

/** A text, or pieces of one. */
export function readPieces(...candidates: readonly (Json | undefined)[]): string {
  for (const candidate of candidates) {
    const pieces = Array.isArray(candidate) ? candidate : [candidate];
    const text = pieces.filter((piece) => typeof piece === 'string' && piece !== '').join(GAP);
    if (text !== '') return text;
  }
  return '';
}

export function readPublished(value: Json | undefined): Pick<WebSearchHit, 'published'> {
  return typeof value === 'string' && value !== '' ? { published: value } : {};
}
