import type { Citation, UrlCitation } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { restOf } from '../../extra.ts';

/** A text of the response that can be cited: what has come of it, and where it begins in the text of the whole response. */
export interface CitedText {
  readonly text: string;
  readonly start: number;
}

/** Members of a cited document, or of a tool's result, that hold its text. */
const EXCERPT_MEMBERS = ['text', 'snippet', 'content'] as const;

/** Members that identify it. */
const NAMING_MEMBERS: ReadonlySet<string> = new Set(['id', 'title', 'url']);

/**
 * One citation a source. The vendor's sources are documents of the request and results of tools; where one has no address
 * on the web, its id (`doc:0`, `get_weather_14brd1n2kfqj:0`) stands in, so that callers of every format see it.
 * @source docs.cohere.com "Citations for tool use", read 2026-11; types of the vendor's SDK `Citation`, `Source`
 */
export function decodeCitation(citation: JsonObject, cited: CitedText | undefined): readonly Citation[] {
  const place = cited === undefined ? {} : placeOf(citation, cited);
  const sources = objectsOf(citation['sources']);
  const found = sources.flatMap((source) => decodeSource(source, place));
  return found.length > 0 ? found : [{ type: 'opaque', format: 'cohere', value: citation }];
}

/** Whether it cites the text, and not the thinking or the plan before it. */
export function citesText({ type }: JsonObject): boolean {
  return type === undefined || type === null || type === 'TEXT_CONTENT';
}

function decodeSource(source: JsonObject, place: Place): readonly Citation[] {
  const held = objectOf(source['document']) ?? objectOf(source['tool_output']);
  const url = webAddress(held?.['url']) ?? textOf(source['id']) ?? textOf(held?.['id']);
  if (url === undefined) return [];
  const title = textOf(held?.['title']);
  const excerpt = held && excerptOf(held);
  return [
    {
      type: 'url',
      url,
      ...(title !== undefined && { title }),
      ...place,
      ...(excerpt !== undefined && { excerpt }),
    },
  ];
}

/** Results of tools, and documents with members of the caller's own making, are shown as they are. */
function excerptOf(held: JsonObject): string | undefined {
  const words = EXCERPT_MEMBERS.map((member) => textOf(held[member])).find((text) => text !== undefined);
  const rest = words === undefined ? restOf(held, NAMING_MEMBERS) : undefined;
  return words ?? (rest && JSON.stringify(rest));
}

type Place = Pick<UrlCitation, 'start' | 'end'>;

/**
 * Offsets count the characters of one content part. Whether a character beyond the basic plane counts once or twice is
 * not said: the cited words themselves, which come along, tell.
 */
function placeOf({ start, end, text: words }: JsonObject, { text, start: base }: CitedText): Place {
  if (!isOffset(start) || !isOffset(end) || end < start) return {};
  if (typeof words === 'string' && text.slice(start, end) !== words) {
    const from = unitsBefore(text, start);
    const to = from + unitsBefore(text.slice(from), end - start);
    if (text.slice(from, to) === words) return { start: base + from, end: base + to };
  }
  return { start: base + start, end: base + end };
}

/** How many UTF-16 units the first characters take. */
function unitsBefore(text: string, characters: number): number {
  let units = 0;
  for (let left = characters; left > 0 && units < text.length; left--)
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function webAddress(value: unknown): string | undefined {
  return typeof value === 'string' && /^https?:\/\//i.test(value) ? value : undefined;
}
