import assert from 'node:assert/strict';
import { isJsonObject, parseJson, type JsonObject } from '../../../../src/lib/json.ts';
import type { WireObject } from '../../../../src/wire/json-fields.ts';

/** Test support: one event of a messages stream as a client reads it. */
export interface SeenEvent {
  readonly name: string;
  readonly data: JsonObject;
}

const DELTAS_OF_BLOCK: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
};

/** Test support: splits the bytes of a stream into its events. @throws AssertionError for anything but whole frames */
export function readFrames(stream: string): readonly SeenEvent[] {
  if (stream === '') return [];
  assert.ok(stream.endsWith('\n\n'), 'the stream ends with a whole frame');
  return stream
    .slice(0, -2)
    .split('\n\n')
    .map((frame) => {
      const lines = frame.split('\n');
      assert.equal(lines.length, 2, `a frame is an event line and a data line: ${frame}`);
      const [event = '', data = ''] = lines;
      assert.ok(event.startsWith('event: ') && data.startsWith('data: '), `a frame has both fields: ${frame}`);
      const parsed = parseJson(data.slice('data: '.length));
      assert.ok(isJsonObject(parsed), 'data is an object');
      assert.equal(parsed['type'], event.slice('event: '.length), 'the event is named as its data says');
      return { name: event.slice('event: '.length), data: parsed };
    });
}

/**
 * Test support: checks what every client of the format relies on: one beginning, blocks dense from 0 that never overlap,
 * deltas only in an open block of their kind, one terminal frame and nothing after it.
 */
export function checkStream(stream: string): readonly SeenEvent[] {
  const events = readFrames(stream);
  let begun = false;
  let ended = false;
  let nextIndex = 0;
  let open: { readonly index: number; readonly type: string; signed: boolean } | undefined;
  let closing = false;
  for (const { name, data } of events) {
    assert.ok(!ended, `nothing follows the terminal frame: ${name}`);
    if (name !== 'message_start' && name !== 'ping' && name !== 'error')
      assert.ok(begun, `${name} follows message_start`);
    switch (name) {
      case 'message_start':
        assert.ok(!begun, 'there is one message_start');
        begun = true;
        break;
      case 'content_block_start': {
        assert.equal(open, undefined, 'blocks do not overlap');
        assert.ok(!closing, 'no block follows message_delta');
        assert.equal(data['index'], nextIndex, 'indexes are dense');
        const block = data['content_block'];
        assert.ok(isJsonObject(block) && typeof block['type'] === 'string', 'a block has a type');
        open = { index: nextIndex++, type: block['type'], signed: false };
        break;
      }
      case 'content_block_delta': {
        assert.equal(data['index'], open?.index, 'a delta belongs to the open block');
        const delta = data['delta'];
        assert.ok(isJsonObject(delta) && open !== undefined, 'a delta has a delta');
        const allowed = DELTAS_OF_BLOCK[open.type];
        const type = textAt(delta, 'type');
        if (allowed !== undefined) assert.ok(allowed.includes(type), `${type} may stand in ${open.type}`);
        assert.ok(!open.signed, 'nothing follows the signature in its block');
        open.signed = type === 'signature_delta';
        break;
      }
      case 'content_block_stop':
        assert.equal(data['index'], open?.index, 'the open block stops');
        open = undefined;
        break;
      case 'message_delta':
        assert.equal(open, undefined, 'all blocks have stopped');
        assert.ok(!closing, 'there is one message_delta');
        closing = true;
        break;
      case 'message_stop':
        assert.ok(closing, 'message_delta comes before message_stop');
        ended = true;
        break;
      case 'error':
        ended = true;
        break;
      case 'ping':
        break;
      default:
        assert.fail(`unknown event ${name}`);
    }
  }
  assert.ok(ended, 'there is a terminal frame');
  return events;
}

/** Test support: the content that a client adds up. */
export function foldContent(events: readonly SeenEvent[]): readonly JsonObject[] {
  const content: WireObject[] = [];
  const inputs: string[] = [];
  for (const { name, data } of events) {
    const index = Number(data['index']);
    if (name === 'content_block_start') content[index] = { ...objectAt(data, 'content_block') };
    const block = content[index];
    if (name !== 'content_block_delta' || block === undefined) continue;
    const delta = objectAt(data, 'delta');
    if (delta['type'] === 'input_json_delta') inputs[index] = (inputs[index] ?? '') + textAt(delta, 'partial_json');
    else addDelta(block, delta);
  }
  for (const [index, input] of inputs.entries()) {
    const block = content[index];
    if (block !== undefined && input !== undefined && input !== '') block['input'] = parseJson(input);
  }
  return content;
}

function addDelta(block: WireObject, delta: JsonObject): void {
  switch (textAt(delta, 'type')) {
    case 'text_delta':
      block['text'] = textAt(block, 'text') + textAt(delta, 'text');
      return;
    case 'thinking_delta':
      block['thinking'] = textAt(block, 'thinking') + textAt(delta, 'thinking');
      return;
    case 'signature_delta':
      block['signature'] = textAt(delta, 'signature');
      return;
    case 'citations_delta': {
      const before = block['citations'];
      block['citations'] = [...(Array.isArray(before) ? before : []), objectAt(delta, 'citation')];
      return;
    }
    default: {
      const { type: _type, ...values } = delta;
      Object.assign(block, values);
    }
  }
}

function objectAt(object: JsonObject, member: string): JsonObject {
  const value = object[member];
  assert.ok(isJsonObject(value), `${member} is an object`);
  return value;
}

function textAt(object: JsonObject, member: string): string {
  const value = object[member];
  assert.ok(typeof value === 'string', `${member} is a string`);
  return value;
}
