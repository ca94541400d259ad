import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { sourceRange } from './json-source.ts';

const TEXT_PATH = ['candidates', 0, 'content', 'parts', 0, 'text'] as const;
const USAGE_PATH = ['usageMetadata'] as const;
/** What JSON wants escaped, and what ends a string. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const NOT_PLAIN = /["\\\u0000-\u001f]/;

/** An upstream that writes each chunk in another way never repeats itself: after so many chunks there is nothing to learn. */
const LEARNED_CHUNKS_MAX = 8;

/** A chunk that holds more of the text, and the counts so far where it holds them. */
export interface TextChunk {
  readonly text: string;
  readonly usage: JsonObject | undefined;
}

/** What surrounds the text and the counts, letter by letter. */
interface Letters {
  readonly before: string;
  readonly between: string;
  /** `undefined`: the chunks have no counts, and end after `between`. */
  readonly after: string | undefined;
}

/**
 * Recognises the chunks of one stream that differ from an earlier one in nothing but the text and the counts of tokens:
 * the vendor repeats all the rest letter by letter. Parsing all of such a chunk costs more than the rest of its way.
 */
export class ChunkTemplate {
  #letters: Letters | undefined;
  #learnedChunks = 0;

  /** @param source the very characters of the chunk */
  learn(chunk: JsonObject, source: string): void {
    if (this.#learnedChunks === LEARNED_CHUNKS_MAX || !holdsTextAlone(chunk)) return;
    this.#learnedChunks++;
    const text = sourceRange(source, TEXT_PATH);
    const usage = sourceRange(source, USAGE_PATH);
    if (text === undefined || (usage !== undefined && usage.start < text.end)) return;
    this.#letters = {
      before: source.slice(0, text.start + 1),
      between: source.slice(text.end - 1, usage?.start),
      after: usage && source.slice(usage.end),
    };
  }

  /** The content of a chunk that fits the template; `undefined`: it must be parsed. */
  match(source: string): TextChunk | undefined {
    if (this.#letters === undefined) return undefined;
    const { before, between, after } = this.#letters;
    // Slices compare by words, `startsWith` by characters.
    if (source.slice(0, before.length) !== before) return undefined;
    // Where this is found too early, a quote stands within the text, and `parseString` fails.
    const end = source.indexOf(between, before.length);
    const text = end < 0 ? undefined : parseString(source.slice(before.length, end));
    if (text === undefined || text === '') return undefined;
    const betweenEnd = end + between.length;
    if (after === undefined) return betweenEnd === source.length ? { text, usage: undefined } : undefined;
    const usageEnd = source.length - after.length;
    if (usageEnd < betweenEnd || source.slice(usageEnd) !== after) return undefined;
    const usage = parseJsonObject(source.slice(betweenEnd, usageEnd));
    return usage && { text, usage };
  }
}

/** What stands between the quotes of a string; `undefined` when it is none. */
function parseString(inside: string): string | undefined {
  if (!NOT_PLAIN.test(inside)) return inside;
  try {
    const text: unknown = JSON.parse(`"${inside}"`);
    return typeof text === 'string' ? text : undefined;
  } catch {
    // The parser will fail again on the whole chunk.
    return undefined;
  }
}

/** Whether everything but the text and the counts has no effect when the next chunk repeats it. */
function holdsTextAlone(chunk: JsonObject): boolean {
  for (const member in chunk) if (!CHUNK_MEMBERS.has(member)) return false;
  const candidates: Json | undefined = chunk['candidates'];
  if (!Array.isArray(candidates) || candidates.length !== 1) return false;
  const candidate: unknown = candidates[0];
  if (!isJsonObject(candidate) || (candidate['index'] ?? 0) !== 0) return false;
  for (const member in candidate) if (!CANDIDATE_MEMBERS.has(member)) return false;
  const { content, groundingMetadata: grounding } = candidate;
  if (isJsonObject(grounding) && Object.keys(grounding).length > 0) return false;
  const parts: Json | undefined = isJsonObject(content) ? content['parts'] : undefined;
  if (!Array.isArray(parts) || parts.length !== 1) return false;
  const part: unknown = parts[0];
  return (
    isJsonObject(part) && typeof part['text'] === 'string' && part['text'] !== '' && Object.keys(part).length === 1
  );
}

const CHUNK_MEMBERS: ReadonlySet<string> = new Set([
  'candidates',
  'usageMetadata',
  'modelVersion',
  'responseId',
  'createTime',
]);
const CANDIDATE_MEMBERS: ReadonlySet<string> = new Set([
  'content',
  'index',
  'safetyRatings',
  // Streams repeat it empty before it is there.
  'groundingMetadata',
]);
