import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../../lib/json.ts';
import { objectsOf } from '../../json-fields.ts';
import { chatRequest, decode, encode, target, user } from '../../../../tests/support/wire/messages/request.ts';

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

function callIn(body: JsonObject): JsonObject | undefined {
  return objectsOf(objectsOf(body['messages'])[1]?.['content'])[0];
}

suite('a conversation that comes from another vendor', () => {
  // @spec reasoning-19
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

  test("keeps its thinking where the calls are the vendor's own, so that the vendor refuses missing blocks", () => {
    for (const id of ['toolu_01A', 'toolu_vrtx_01A', 'tooluse_A']) {
      const { body, warnings } = encode(decode(afterCall({ id })), VENDOR);
      assert.deepEqual(body['thinking'], { type: 'enabled', budget_tokens: 2_000 });
      assert.deepEqual(warnings, []);
    }
  });
});

test('sends the caller of a tool call to the vendor alone, because other hosts may not know the member', () => {
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

test('sends the temperature alone to a model that refuses it beside top_p', () => {
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

suite('a host that wants to see thinking before calls', () => {
  const wants = target({ vendor: false, thinking: 'budget', reasoningFiller: ' ' });
  const filler = { type: 'thinking', thinking: ' ', signature: '' };

  test('gets some where another model made the calls, and thinks on', () => {
    const { body, warnings } = encode(decode(afterCall({ id: 'toolu_1' })), wants);
    assert.deepEqual(callIn(body), filler);
    assert.deepEqual(body['thinking'], { type: 'enabled', budget_tokens: 2_000 });
    assert.deepEqual(warnings, []);
  });

  test('gets its own thinking as it was, and none where thinking is switched off', () => {
    const wire = afterCall({ id: 'toolu_1' });
    const thought = { type: 'thinking', thinking: 'I look.', signature: '' };
    const [question, calls, result] = objectsOf(wire['messages']);
    const kept = { ...calls, content: [thought, ...objectsOf(calls?.['content'])] };
    const messages = [question ?? {}, kept, result ?? {}];
    assert.deepEqual(callIn(encode(decode({ ...wire, messages }), wants).body), thought);
    const off = encode(decode({ ...wire, thinking: { type: 'disabled' } }), wants);
    assert.equal(callIn(off.body)?.['type'], 'tool_use');
  });
});

suite('a host that cannot be forced to call a tool while it thinks, and thinks by default', () => {
  const host = target({ vendor: false, thinking: 'budget', unforcedReasoning: true, effortNeedsThinking: true });
  const wire = {
    max_tokens: 9,
    messages: [{ role: 'user', content: 'a' }],
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    tool_choice: { type: 'any' },
    output_config: { effort: 'low' },
  };

  test('does not think then where the request sets no thinking, and gets no effort either', () => {
    const { body, warnings } = encode(decode(wire), host);
    assert.deepEqual([body['thinking'], body['output_config']], [{ type: 'disabled' }, undefined]);
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ['output_config.effort'],
    );
  });

  // @spec messages-24
  test("gets a caller's own words as they stand, and nothing where it always thinks or is not forced", () => {
    const thinking = { type: 'enabled', budget_tokens: 2_000 };
    assert.deepEqual(encode(decode({ ...wire, thinking }), host).body['thinking'], thinking);
    const always = target({ vendor: false, unforcedReasoning: true, mustReason: true });
    assert.equal(encode(decode(wire), always).body['thinking'], undefined);
    const { body } = encode(decode({ ...wire, tool_choice: { type: 'auto' } }), host);
    assert.deepEqual([body['thinking'], body['output_config']], [undefined, { effort: 'low' }]);
  });
});
