import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isJsonObject, parseJson, type JsonObject } from '../../../../src/lib/json.ts';
import { objectAt, objectsOf, textOf } from '../../../../src/wire/json-fields.ts';

/** Test support: one event of a responses stream as a client reads it. */
export interface SeenEvent {
  /** Without `response.` */
  readonly name: string;
  readonly data: JsonObject;
}

const SDK_TYPES = new URL('../../../../node_modules/openai/resources/responses/responses.d.ts', import.meta.url);

/** The types of events that the vendor's SDK knows: strict clients fail on any other. */
const KNOWN_TYPES: ReadonlySet<string> = new Set(
  [...readFileSync(SDK_TYPES, 'utf8').matchAll(/type: '(response\.[a-z_.]+)'/g)].map(([, type = '']) => type),
);

const DONE = 'data: [DONE]\n\n';
const TERMINAL: ReadonlySet<string> = new Set(['completed', 'incomplete', 'failed']);

/** Test support: splits a stream into its events. @throws AssertionError for anything but whole frames, and `[DONE]` last */
function readFrames(stream: string, isKnown: (type: string) => boolean): readonly SeenEvent[] {
  assert.ok(stream.endsWith(DONE), 'the stream ends with [DONE]');
  const frames = stream.slice(0, -DONE.length);
  assert.ok(frames.endsWith('\n\n'), 'a stream is whole frames');
  return frames
    .slice(0, -2)
    .split('\n\n')
    .filter((frame) => !frame.startsWith(':'))
    .map((frame) => {
      const [, event = '', data = ''] = /^event: ([^\r\n]*)\ndata: ([^\r\n]*)$/.exec(frame) ?? [];
      const parsed = parseJson(data);
      assert.ok(isJsonObject(parsed), `a frame is an event line and a data line: ${frame}`);
      assert.equal(parsed['type'], event, 'the event is named as its data says');
      assert.deepEqual(Object.keys(parsed).slice(0, 2), ['type', 'sequence_number'], 'both come first');
      assert.ok(isKnown(event), `the vendor's SDK knows ${event}`);
      return { name: event.replace(/^response\./, ''), data: parsed };
    });
}

/** Where a text of an item is: its deltas, and what its end repeats. */
interface OpenText {
  text: string;
  isOver: boolean;
}

interface OpenItem {
  readonly id: string;
  readonly type: string;
  readonly texts: Map<string, OpenText>;
  readonly parts: Map<string, 'open' | 'over'>;
  annotations: number;
  done: JsonObject | undefined;
}

/** The member that holds the text, by the stem of the events that bring it. */
const TEXT_MEMBERS: Readonly<Record<string, { readonly of: string; readonly member: string; readonly at?: string }>> = {
  output_text: { of: 'message', member: 'text', at: 'content_index' },
  refusal: { of: 'message', member: 'refusal', at: 'content_index' },
  reasoning_summary_text: { of: 'reasoning', member: 'text', at: 'summary_index' },
  reasoning_text: { of: 'reasoning', member: 'text', at: 'content_index' },
  function_call_arguments: { of: 'function_call', member: 'arguments' },
  custom_tool_call_input: { of: 'custom_tool_call', member: 'input' },
  mcp_call_arguments: { of: 'mcp_call', member: 'arguments' },
  code_interpreter_call_code: { of: 'code_interpreter_call', member: 'code' },
};
/** How events of an item begin, where not with its type. */
const OTHER_STEMS: Readonly<Record<string, string>> = { 'service:fusion': 'fusion_call' };
const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call']);
/** Kinds that always have a status. */
const STATED: ReadonlySet<string> = new Set([
  'message',
  'reasoning',
  'function_call',
  'custom_tool_call',
  'web_search_call',
]);
/** Not side by side with any other item. */
const LONELY: ReadonlySet<string> = new Set(['message', 'reasoning']);

/**
 * Test support: checks what clients of the format rely on: numbers without a gap, `created` first and one terminal event,
 * dense indexes, ids that stay, an item's beginning before its texts and its end after them, ends that repeat what came,
 * and a last event that lists what the events before it add up to.
 * @param extended types of events that the request enables, beside those of the vendor
 */
export function checkStream(stream: string, extended?: RegExp): readonly SeenEvent[] {
  const events = readFrames(stream, (type) => KNOWN_TYPES.has(type) || extended?.test(type) === true);
  checkLifeCycle(events);
  const items: OpenItem[] = [];
  const ids = new Set<string>();
  for (const { name, data } of events) {
    if (TERMINAL.has(name)) checkOutput(items, objectAt(data, 'response'));
    else if (name === 'output_item.added') items.push(addItem(items, ids, data));
    else if (name === 'output_item.done') endItem(itemOf(items, data, objectAt(data, 'item')['id']), data);
    else if (data['item_id'] !== undefined) checkItemEvent(itemOf(items, data, data['item_id']), name, data);
  }
  return events;
}

function checkLifeCycle(events: readonly SeenEvent[]): void {
  assert.deepEqual(
    events.map(({ data }) => data['sequence_number']),
    events.map((_, at) => at),
    'numbers rise by one from 0',
  );
  const names = events.map(({ name }) => name);
  const opening = names.includes('queued') ? ['created', 'queued', 'in_progress'] : ['created', 'in_progress'];
  // One that is cancelled while it waits never runs.
  const begun = opening.slice(0, Math.max(2, names.length - 1));
  assert.deepEqual(names.slice(0, begun.length), begun, 'a stream begins so');
  assert.equal(names.lastIndexOf('created'), 0, 'there is one beginning');
  assert.deepEqual(
    names.flatMap((name, at) => (TERMINAL.has(name) ? [at] : [])),
    [names.length - 1],
    'there is one terminal event, and it is the last',
  );
  const ids = events.flatMap(({ data }) => textOf(objectAt(data, 'response')['id']) ?? []);
  assert.equal(new Set(ids).size, 1, 'the id of the response stays');
  for (const { name, data } of events) {
    if (data['response'] === undefined) continue;
    const { status, output } = objectAt(data, 'response');
    if (TERMINAL.has(name)) assert.ok(status === name || status === 'cancelled', 'the status is that of the event');
    else {
      const waits = opening.length > 2 && name !== 'in_progress';
      assert.deepEqual([status, output], [waits ? 'queued' : 'in_progress', []], 'it is under way');
    }
  }
}

function addItem(items: readonly OpenItem[], ids: Set<string>, data: JsonObject): OpenItem {
  const item = objectAt(data, 'item');
  const id = textOf(item['id']) ?? '';
  const type = textOf(item['type']) ?? '';
  assert.equal(data['output_index'], items.length, 'items are numbered from 0');
  assert.ok(id !== '' && !ids.has(id), `the id is new: ${id}`);
  ids.add(id);
  if (item['status'] !== undefined || STATED.has(type)) assert.equal(item['status'], 'in_progress');
  const open = items.filter(({ done }) => done === undefined);
  if (LONELY.has(type))
    assert.deepEqual(
      open.map((one) => one.type),
      [],
      `${type} begins alone`,
    );
  for (const one of open) assert.ok(!LONELY.has(one.type), `nothing begins beside ${one.type}`);
  return { id, type, texts: new Map(), parts: new Map(), annotations: 0, done: undefined };
}

function itemOf(items: readonly OpenItem[], data: JsonObject, id: unknown): OpenItem {
  const item = items[Number(data['output_index'])];
  assert.ok(item !== undefined, 'the item has begun');
  assert.equal(item.id, id, 'the id of an item stays');
  assert.equal(item.done, undefined, 'the item has not ended');
  return item;
}

function checkItemEvent(item: OpenItem, name: string, data: JsonObject): void {
  const dot = name.lastIndexOf('.');
  const [stem, step] = [name.slice(0, dot), name.slice(dot + 1)];
  const known = TEXT_MEMBERS[stem];
  if (known !== undefined) {
    assert.equal(item.type, known.of);
    checkText(item, stem, step, data, known.member, known.at);
  } else if (stem === 'content_part' || stem === 'reasoning_summary_part') checkPart(item, stem, step, data);
  else if (stem === 'output_text.annotation') {
    assert.equal(data['annotation_index'], item.annotations++, 'annotations are numbered from 0');
    assert.equal(item.parts.get(keyOf(data, 'content_index')), 'open');
  } else assert.ok(stem.startsWith(OTHER_STEMS[item.type] ?? item.type), `${name} is about ${item.type}`);
}

function checkText(
  item: OpenItem,
  stem: string,
  step: string,
  data: JsonObject,
  member: string,
  at: string | undefined,
): void {
  const key = at === undefined ? stem : keyOf(data, at);
  if (at !== undefined) assert.equal(item.parts.get(key), 'open', `${stem} is in a part that is open`);
  const text = item.texts.get(key) ?? { text: '', isOver: false };
  item.texts.set(key, text);
  assert.ok(!text.isOver, `nothing follows the end of ${stem}`);
  if (step === 'delta') {
    text.text += textOf(data['delta']) ?? assert.fail('a delta is a text');
    return;
  }
  assert.equal(step, 'done');
  text.isOver = true;
  const isNone = stem === 'function_call_arguments' && text.text === '';
  assert.equal(data[member], isNone ? '{}' : text.text, 'the end repeats what the deltas add up to');
  if (stem === 'function_call_arguments') assert.equal(typeof data['name'], 'string');
}

function checkPart(item: OpenItem, stem: string, step: string, data: JsonObject): void {
  const at = stem === 'content_part' ? 'content_index' : 'summary_index';
  const key = keyOf(data, at);
  if (step === 'added') {
    const before = [...item.parts.keys()].filter((other) => other.startsWith(at)).length;
    assert.equal(data[at], before, 'parts are numbered from 0');
    assert.ok(![...item.parts.values()].includes('open'), 'parts come one at a time');
    item.parts.set(key, 'open');
    item.annotations = 0;
    return;
  }
  assert.equal(item.parts.get(key), 'open', 'a part ends once');
  item.parts.set(key, 'over');
  const { text, refusal } = objectAt(data, 'part');
  assert.equal(text ?? refusal, item.texts.get(key)?.text, 'a part holds its text');
  assert.equal(item.texts.get(key)?.isOver, true, 'its text has ended');
}

/** The part that an event is about. */
function keyOf(data: JsonObject, at: string): string {
  return `${at} ${JSON.stringify(data[at])}`;
}

function endItem(item: OpenItem, data: JsonObject): void {
  const wire = objectAt(data, 'item');
  assert.equal(wire['type'], item.type);
  for (const text of item.texts.values()) assert.ok(text.isOver, 'its texts have ended');
  assert.ok(![...item.parts.values()].includes('open'), 'its parts have ended');
  assert.notEqual(wire['status'], 'in_progress');
  assert.equal(textsOf(wire), joined(item), 'it holds its texts');
  item.done = wire;
}

/** The unfinished stand in it as far as they came. */
function checkOutput(items: readonly OpenItem[], response: JsonObject): void {
  const output = objectsOf(response['output']);
  assert.equal(output.length, items.length, 'all items are listed');
  for (const [at, item] of items.entries()) {
    const wire = output[at] ?? {};
    if (item.done !== undefined) {
      assert.deepEqual(wire, item.done);
      continue;
    }
    assert.deepEqual([wire['id'], wire['type'], wire['status']], [item.id, item.type, 'incomplete']);
    assert.equal(textsOf(wire), joined(item), 'it holds what came of it');
  }
  const status = textOf(response['status']);
  if (status === 'completed')
    for (const item of items) assert.ok(item.done, 'a response that is whole has ended items');
}

function joined({ type, texts }: OpenItem): string {
  const all = [...texts.values()].map(({ text }) => text).join('');
  return all === '' && type === 'function_call' && texts.size > 0 ? '{}' : all;
}

/** Summaries before contents, as they come. */
function textsOf(item: JsonObject): string {
  if (CALLS.has(textOf(item['type']) ?? '')) return textOf(item['arguments'] ?? item['input']) ?? '';
  if (item['type'] === 'mcp_call') return textOf(item['arguments']) ?? '';
  if (item['type'] === 'code_interpreter_call') return textOf(item['code']) ?? '';
  return [...objectsOf(item['summary']), ...objectsOf(item['content'])]
    .map((part) => textOf(part['text'] ?? part['refusal']) ?? '')
    .join('');
}

/** Test support: the response as the terminal event holds it. */
export function lastResponse(events: readonly SeenEvent[]): JsonObject {
  return objectAt(events.at(-1)?.data ?? {}, 'response');
}
