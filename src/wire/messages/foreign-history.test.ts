import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { chatRequest, decode, encode, target, user } from './test-request.ts';

const VENDOR = target({ vendor: true, thinking: 'budget' });
const HOST = target({ vendor: false, thinking: 'budget' });

/** A caller of the format that goes on after a call. */
function afterCall(call: JsonObject): JsonObject {
  return {
    max_tokens: 8_000,
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [{ type: 'tool_use', name: 'f', input: {}, ...call }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call['id'] ?? '', content: '1' }] },
    ],
  };
}

function callIn(body: JsonObject): unknown {
  const [, message] = body['messages'] as readonly JsonObject[];
  const content = message?.['content'] as readonly JsonObject[] | undefined;
  return content?.[0];
}

suite('a conversation that comes from another vendor', () => {
  test('is gone on with without thinking, where the calls were made without it', () => {
    for (const id of ['call_1', 'functions_f_0']) {
      const { body, warnings } = encode(decode(afterCall({ id })), VENDOR);
      assert.equal(body['thinking'], undefined);
      assert.deepEqual(
        warnings.map(({ path }) => path),
        ['thinking'],
      );
    }
  });

  test("keeps its thinking where the calls are the vendor's own: whoever left that out is told so", () => {
    for (const id of ['toolu_01A', 'toolu_vrtx_01A', 'tooluse_A']) {
      const { body, warnings } = encode(decode(afterCall({ id })), VENDOR);
      assert.deepEqual(body['thinking'], { type: 'enabled', budget_tokens: 2_000 });
      assert.deepEqual(warnings, []);
    }
  });
});

test("who made a call is said to the vendor alone: our own answers say it, and others' hosts may not know it", () => {
  const wire = afterCall({ id: 'toolu_1', caller: { type: 'direct' } });
  assert.deepEqual(callIn(encode(decode(wire), VENDOR).body), {
    type: 'tool_use',
    id: 'toolu_1',
    name: 'f',
    input: {},
    caller: { type: 'direct' },
  });
  const sent = callIn(encode(decode(wire), HOST).body);
  assert.ok(typeof sent === 'object' && sent !== null);
  assert.ok(!('caller' in sent));
});

test('of temperature and top_p a model that refuses both together gets the temperature', () => {
  const settings = { maxTokens: 9, temperature: 0.2, topP: 0.9 };
  const one = target({ vendor: true, oneSampler: true });
  const { body, warnings } = encode(chatRequest([user('a')], settings), one);
  assert.deepEqual([body['temperature'], body['top_p']], [0.2, undefined]);
  assert.deepEqual(
    warnings.map(({ path }) => path),
    ['top_p'],
  );
  assert.equal(encode(chatRequest([user('a')], { maxTokens: 9, topP: 0.9 }), one).body['top_p'], 0.9);
  assert.equal(encode(chatRequest([user('a')], settings), VENDOR).body['top_p'], 0.9);
  const own = { max_tokens: 9, temperature: 0.2, top_p: 0.9, messages: [{ role: 'user', content: 'a' }] };
  assert.equal(encode(decode(own), one).body['top_p'], 0.9);
});
