import type { JsonObject } from '../../../../src/lib/json.ts';
import { isJsonObject, type Json } from '../../../../src/lib/json.ts';
import { objectAt, objectsOf } from '../../../../src/wire/json-fields.ts';
import type { SeenEvent } from './stream-checker.ts';

/** Members of done items that their deltas determine. */
const SUMS: ReadonlySet<string> = new Set(['content', 'summary', 'arguments', 'input']);
const PLACE = ['item_id', 'output_index', 'content_index', 'summary_index'];
const IN_DONE: ReadonlySet<string> = new Set(['text', 'refusal', 'part', 'arguments', 'input', 'logprobs', 'code']);

/**
 * Test support: a stream in short. One line an event: its number, its type, `@` and the item with the part, the delta, and
 * what else it has that the events before it do not tell. `created`, `in_progress` and the members of every response are
 * left out.
 */
export function inShort(events: readonly SeenEvent[]): readonly string[] {
  const added: JsonObject[] = [];
  const done: JsonObject[] = [];
  return events.slice(2).map(({ name, data }) => {
    const head = `${JSON.stringify(data['sequence_number'])} ${name}`;
    if (data['response'] !== undefined) return `${head} ${responseInShort(objectAt(data, 'response'), done)}`;
    const index = Number(data['output_index']);
    if (name === 'output_item.added') {
      added[index] = objectAt(data, 'item');
      const { status: _status, ...item } = added[index];
      return `${head} @${index} ${JSON.stringify(withoutEmptyLists(item))}`;
    }
    if (name === 'output_item.done') {
      const item = objectAt(data, 'item');
      done[index] = item;
      return `${head} @${index}${membersInShort(changes(added[index] ?? {}, item))}`;
    }
    return `${head} @${index}${restInShort(name, data)}`;
  });
}

function restInShort(name: string, data: JsonObject): string {
  const { type: _type, sequence_number: _number, delta, ...members } = data;
  const part = members['content_index'] ?? members['summary_index'];
  const rest = Object.fromEntries(
    Object.entries(members).filter(([member]) => !PLACE.includes(member) && !IN_DONE.has(member)),
  );
  const kind = name === 'content_part.added' ? ` ${JSON.stringify(objectAt(data, 'part')['type']).slice(1, -1)}` : '';
  const at = part === undefined ? '' : `.${JSON.stringify(part)}`;
  return `${at}${kind}${delta === undefined ? '' : ` ${JSON.stringify(delta)}`}${membersInShort(rest)}`;
}

function membersInShort(members: JsonObject): string {
  return Object.keys(members).length === 0 ? '' : ` ${JSON.stringify(members)}`;
}

function withoutEmptyLists(item: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => !(Array.isArray(value) && value.length === 0)));
}

function changes(before: JsonObject, item: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(item).filter(
      ([member, value]) =>
        !SUMS.has(member) &&
        !(member === 'status' && value === 'completed') &&
        JSON.stringify(before[member]) !== JSON.stringify(value),
    ),
  );
}

/** `R <status> [items] <input/cached/output/reasoning>`, and why it did not end well. */
function responseInShort(response: JsonObject, done: readonly JsonObject[]): string {
  const items = objectsOf(response['output']).map((item, at) =>
    JSON.stringify(item) === JSON.stringify(done[at]) ? `=${at}` : JSON.stringify(item),
  );
  const { incomplete_details, error, error_type } = response;
  const why = { incomplete_details, error, error_type };
  const rest = Object.fromEntries(Object.entries(why).filter(([, value]) => value !== undefined && value !== null));
  return `R ${JSON.stringify(response['status']).slice(1, -1)} [${items.join(',')}] ${countsInShort(response['usage'])}${membersInShort(rest)}`;
}

function countsInShort(usage: Json | undefined): string {
  if (!isJsonObject(usage)) return '-';
  return JSON.stringify([
    usage['input_tokens'],
    objectAt(usage, 'input_tokens_details')['cached_tokens'],
    usage['output_tokens'],
    objectAt(usage, 'output_tokens_details')['reasoning_tokens'],
  ])
    .slice(1, -1)
    .replaceAll(',', '/');
}
