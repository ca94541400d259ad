import assert from 'node:assert/strict';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../../src/lib/json.ts';
import { shortenStrings } from '../golden.ts';
import { readChatStream, readMessagesStream } from '../http/read-stream.ts';
import type { Ask, Replayed } from './replay.ts';

/** A whole answer keeps its texts up to this length; its stream only shows where they begin, code compares the rest. */
const WHOLE_TEXT_CHARS_MAX = 2_000;
const STREAM_TEXT_CHARS_MAX = 120;

/** Members that every chunk repeats. */
const HEAD = ['id', 'object', 'created', 'model', 'provider'] as const;

/** The answer as a golden holds it: on few lines, and nothing that was said left out. */
export function reviewAnswer({ text, contentType }: Replayed, ask: Ask): Json {
  if (!contentType.startsWith('text/event-stream')) {
    const body = parseJsonObject(text);
    assert.ok(body !== undefined, `an answer is a JSON object: ${text.slice(0, 300)}`);
    return shortenStrings('created' in body ? { ...body, created: 0 } : body, WHOLE_TEXT_CHARS_MAX);
  }
  const events =
    ask.format === 'chat' ? reviewChunks(text) : foldEvents(readMessagesStream(text).events as readonly JsonObject[]);
  return shortenStrings(events, STREAM_TEXT_CHARS_MAX);
}

/** Facts of the record, without times and ids. */
export function reviewRecord(record: JsonObject): JsonObject {
  const kept = [
    'finish_reason',
    'native_finish_reason',
    'service_tier',
    'native_tokens_prompt',
    'native_tokens_completion',
    'native_tokens_reasoning',
    'native_tokens_cached',
    'usage_source',
    'total_cost',
    'cancelled',
  ];
  const attempts = Array.isArray(record['provider_responses']) ? record['provider_responses'] : [];
  return {
    ...Object.fromEntries(kept.map((member) => [member, record[member] ?? null])),
    attempts: attempts.map((attempt) => (isJsonObject(attempt) ? (attempt['status'] ?? null) : null)),
  };
}

/** Chunks with their common fields shown once, and runs of one kind folded. */
function reviewChunks(text: string): readonly Json[] {
  const { chunks } = readChatStream(text);
  const [first] = chunks as JsonObject[];
  assert.ok(first !== undefined, 'a stream has chunks');
  const rests = (chunks as JsonObject[]).map((chunk) => {
    for (const member of HEAD) assert.deepEqual(chunk[member], first[member], `${member} is the same in all chunks`);
    return Object.fromEntries(Object.entries(chunk).filter(([member]) => !HEAD.some((name) => name === member)));
  });
  const head = { ...Object.fromEntries(HEAD.map((member) => [member, first[member] ?? null])), created: 0 };
  return [{ every_chunk: head }, ...foldEvents(rests)];
}

/** Strings that grow from event to event, wherever they stand. */
const GROWING: ReadonlySet<string> = new Set([
  'content',
  'reasoning',
  'reasoning_content',
  'text',
  'summary',
  'data',
  'arguments',
  'refusal',
  'thinking',
  'partial_json',
]);

/** Joins consecutive events that differ only in a growing string; `pieces` is their number. */
function foldEvents(events: readonly Json[]): readonly Json[] {
  const folded: { event: Json; shape: string; pieces: number }[] = [];
  for (const event of events) {
    const shape = JSON.stringify(joinGrowing(event, undefined));
    const last = folded.at(-1);
    if (last?.shape === shape && growsIn(event)) {
      last.event = joinGrowing(last.event, event);
      last.pieces += 1;
    } else {
      folded.push({ event, shape, pieces: 1 });
    }
  }
  return folded.map(({ event, pieces }) => (pieces > 1 && isJsonObject(event) ? { ...event, pieces } : event));
}

function growsIn(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some((item) => growsIn(item));
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(
    ([name, member]) => (GROWING.has(name) && typeof member === 'string') || growsIn(member),
  );
}

/** The value with the growing strings of `next` put behind its own; without a `next`, with none at all. */
function joinGrowing(value: Json, next: Json | undefined): Json {
  if (Array.isArray(value))
    return value.map((item, at) => joinGrowing(item, Array.isArray(next) ? next[at] : undefined));
  if (!isJsonObject(value)) return value;
  const other = isJsonObject(next) ? next : undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const more = other?.[name];
      if (GROWING.has(name) && typeof member === 'string')
        return [name, other === undefined ? '' : member + (typeof more === 'string' ? more : '')];
      return [name, joinGrowing(member ?? null, more)];
    }),
  );
}
