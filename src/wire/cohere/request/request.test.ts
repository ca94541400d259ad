import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeChatText } from '../../../../tests/support/wire/chat/request.ts';
import { encodeRequest } from './request.ts';
import {
  calledIn,
  encodeChat,
  encodeOfMessages,
  PLANNER,
  THINKER,
  tool,
} from '../../../../tests/support/wire/cohere/request.ts';

// @spec chat-43
test('sends no unset option of a plain request', () => {
  const { body, warnings } = encodeChat({});
  assert.deepEqual(body, { model: 'command-a-plus-05-2026', messages: [{ role: 'user', content: 'Hello' }] });
  assert.deepEqual(warnings, []);
});

test('requests a stream', () => {
  assert.equal(encodeChat({ stream: true }).body['stream'], true);
});

test('sends sampling under the names of the format', () => {
  const { body, warnings } = encodeChat({
    max_tokens: 300,
    temperature: 0.2,
    top_p: 0.9,
    top_k: 40,
    frequency_penalty: 0.5,
    seed: 7,
    stop: ['END'],
    logprobs: true,
  });
  const { model: _model, messages: _messages, ...options } = body;
  assert.deepEqual(options, {
    max_tokens: 300,
    temperature: 0.2,
    p: 0.9,
    k: 40,
    frequency_penalty: 0.5,
    seed: 7,
    stop_sequences: ['END'],
    logprobs: true,
  });
  assert.deepEqual(warnings, []);
});

test('clamps values out of range, with a warning', () => {
  const { body, warnings } = encodeChat({ temperature: 1.5, top_p: 1, top_k: 900, presence_penalty: -1 });
  assert.deepEqual([body['temperature'], body['p'], body['k'], body['presence_penalty']], [1, 0.99, 500, 0]);
  assert.deepEqual(warnings, [
    'field-changed temperature',
    'field-changed top_p',
    'field-changed top_k',
    'field-changed presence_penalty',
  ]);
});

test('keeps a seed of 64 bits exact, and omits one below zero', () => {
  const text = '{"model":"acme/one","messages":[{"role":"user","content":"Hi"}],"seed":12345678901234567890}';
  assert.match(JSON.stringify(encodeRequest(decodeChatText(text), THINKER).body), /"seed":12345678901234567890/);
  const { body, warnings } = encodeChat({ seed: -7 });
  assert.equal(body['seed'], undefined);
  assert.deepEqual(warnings, ['field-dropped seed']);
});

test('sends one of the two penalties, and drops a zero without a warning', () => {
  const both = encodeChat({ frequency_penalty: 0.3, presence_penalty: 0.4 });
  assert.deepEqual([both.body['frequency_penalty'], both.body['presence_penalty']], [0.3, undefined]);
  assert.deepEqual(both.warnings, ['field-dropped presence_penalty']);
  const zero = encodeChat({ frequency_penalty: 0, presence_penalty: 0.4 });
  assert.deepEqual([zero.body['frequency_penalty'], zero.body['presence_penalty']], [undefined, 0.4]);
  assert.deepEqual(zero.warnings, []);
});

// @spec translate-12
test('sends no more stop sequences than the format takes', () => {
  const { body, warnings } = encodeOfMessages({ stop_sequences: ['1', '2', '3', '4', '5', '6'] });
  assert.deepEqual(body['stop_sequences'], ['1', '2', '3', '4', '5']);
  assert.deepEqual(warnings, ['field-changed stop_sequences']);
});

test('warns of settings that the format cannot express', () => {
  const { body, warnings } = encodeChat({
    min_p: 0.1,
    top_a: 0.1,
    repetition_penalty: 1.1,
    logit_bias: { '50': 1 },
    logprobs: true,
    top_logprobs: 3,
    verbosity: 'low',
    service_tier: 'flex',
    prompt_cache_key: 'k',
    parallel_tool_calls: false,
    unheard_of: 1,
  });
  assert.deepEqual(Object.keys(body), ['model', 'messages', 'logprobs']);
  assert.deepEqual(warnings.toSorted(), [
    'field-dropped logit_bias',
    'field-dropped min_p',
    'field-dropped parallel_tool_calls',
    'field-dropped prompt_cache_key',
    'field-dropped repetition_penalty',
    'field-dropped service_tier',
    'field-dropped top_a',
    'field-dropped top_logprobs',
    'field-dropped unheard_of',
    'field-dropped verbosity',
  ]);
});

test("an endpoint's list of parameters is heeded", () => {
  const target = { ...THINKER, supportedParameters: new Set(['temperature']) };
  const { body, warnings } = encodeChat({ temperature: 0.1, top_k: 5, seed: 1, tools: [tool('weather')] }, target);
  assert.deepEqual(Object.keys(body), ['model', 'messages', 'temperature']);
  assert.deepEqual(warnings.toSorted(), ['field-dropped seed', 'field-dropped tools', 'field-dropped top_k']);
});

test('requests no longer response than the endpoint gives', () => {
  const { body, warnings } = encodeChat({ max_tokens: 9_000 }, { ...THINKER, maxOutputTokens: 8_000 });
  assert.equal(body['max_tokens'], 8_000);
  assert.deepEqual(warnings, ['field-changed max_tokens']);
});

suite("members of the vendor's own", () => {
  test('go on as the caller wrote them', () => {
    const own = { safety_mode: 'STRICT', citation_options: { mode: 'FAST' }, priority: 5 };
    const { body, warnings } = encodeChat(own);
    assert.deepEqual(
      [body['safety_mode'], body['citation_options'], body['priority']],
      ['STRICT', { mode: 'FAST' }, 5],
    );
    assert.deepEqual(warnings, []);
  });

  test('go only to an endpoint whose list has them', () => {
    const target = { ...THINKER, supportedParameters: new Set(['priority']) };
    const { body, warnings } = encodeChat({ safety_mode: 'STRICT', priority: 5 }, target);
    assert.deepEqual([body['safety_mode'], body['priority']], [undefined, 5]);
    assert.deepEqual(warnings, ['field-dropped safety_mode']);
  });

  test('drops a safety mode beside tools', () => {
    const { body, warnings } = encodeChat({ safety_mode: 'STRICT', tools: [tool('weather')] });
    assert.equal(body['safety_mode'], undefined);
    assert.deepEqual(warnings, ['field-dropped safety_mode']);
  });

  test('keeps documents as they are, and requests the response format by an instruction beside them', () => {
    const documents = [{ id: 'a', data: { text: 'x' } }];
    const { body, warnings } = encodeChat({ documents, response_format: { type: 'json_object' } });
    assert.deepEqual(body['documents'], documents);
    assert.equal(body['response_format'], undefined);
    assert.deepEqual(warnings, ['field-changed response_format']);
  });
});

suite('the form of the response', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const requested = { type: 'json_schema', json_schema: { name: 'it', schema, strict: true } };

  test('is an object, with its schema bare', () => {
    assert.deepEqual(encodeChat({ response_format: { type: 'json_object' } }).body['response_format'], {
      type: 'json_object',
    });
    const { body, warnings } = encodeChat({ response_format: requested });
    assert.deepEqual(body['response_format'], { type: 'json_object', json_schema: schema });
    assert.deepEqual(warnings, []);
    assert.equal(encodeChat({ response_format: { type: 'text' } }).body['response_format'], undefined);
  });

  test('is requested by an instruction beside tools, after the instructions of the caller', () => {
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Go' },
    ];
    const encoded = encodeChat({ messages, response_format: requested, tools: [tool('weather')] });
    assert.equal(encoded.body['response_format'], undefined);
    assert.deepEqual(encoded.messages[0], { role: 'system', content: 'Be kind.' });
    const [, instruction] = encoded.messages as readonly JsonObject[];
    assert.equal(instruction?.['role'], 'system');
    assert.match(JSON.stringify(instruction), /JSON Schema.*\\"required\\":\[\\"a\\"\]/s);
    assert.deepEqual(encoded.warnings, ['field-changed response_format']);
  });

  test('is requested by an instruction where its schema describes no object', () => {
    const list = { type: 'json_schema', json_schema: { name: 'it', schema: { type: 'array' } } };
    const { body, warnings } = encodeChat({ response_format: list });
    assert.equal(body['response_format'], undefined);
    assert.deepEqual(warnings, ['field-changed response_format']);
  });

  test('is reported where the format does not have it', () => {
    const { body, warnings } = encodeChat({ response_format: { type: 'grammar', grammar: 'root ::= "a"' } });
    assert.equal(body['response_format'], undefined);
    assert.deepEqual(warnings, ['field-dropped response_format']);
  });
});

suite('thinking', () => {
  const thinking = (reasoning: JsonObject, more: JsonObject = {}, target = THINKER) => {
    const { body, warnings } = encodeChat({ reasoning, ...more }, target);
    return { thinking: body['thinking'], maxTokens: body['max_tokens'], warnings };
  };

  test('is turned off, and on with a budget', () => {
    assert.deepEqual(thinking({ enabled: false }).thinking, { type: 'disabled' });
    assert.deepEqual(thinking({ effort: 'none' }).thinking, { type: 'disabled' });
    assert.deepEqual(thinking({ max_tokens: 500 }).thinking, { type: 'enabled', token_budget: 500 });
    assert.equal(encodeChat({}).body['thinking'], undefined);
  });

  test('gets its share of the response by effort', () => {
    const { thinking: sent, maxTokens } = thinking({ effort: 'high' }, { max_tokens: 10_000 });
    assert.deepEqual(sent, { type: 'enabled', token_budget: 8_000 });
    assert.equal(maxTokens, 10_000);
    const limited = { ...THINKER, maxOutputTokens: 32_000 };
    assert.deepEqual(thinking({ enabled: true }, {}, limited).thinking, { type: 'enabled', token_budget: 16_000 });
  });

  test('takes as much as the model likes by effort without any limit', () => {
    const { thinking: sent, warnings } = thinking({ effort: 'low' });
    assert.deepEqual(sent, { type: 'enabled' });
    assert.deepEqual(warnings, ['field-changed reasoning']);
  });

  test('leaves room for the response', () => {
    const raised = thinking({ max_tokens: 5_000 }, { max_tokens: 2_000 });
    assert.deepEqual([raised.thinking, raised.maxTokens], [{ type: 'enabled', token_budget: 5_000 }, 6_024]);
    assert.deepEqual(raised.warnings, ['field-changed max_tokens']);
    const lowered = thinking({ max_tokens: 40_000 }, {}, { ...THINKER, maxOutputTokens: 32_000 });
    assert.deepEqual(lowered.thinking, { type: 'enabled', token_budget: 30_976 });
    assert.deepEqual(lowered.warnings, ['field-changed reasoning.max_tokens']);
  });

  test('is off where the response is too short for it', () => {
    const { thinking: sent, warnings } = thinking(
      { effort: 'high' },
      { max_tokens: 100 },
      { ...THINKER, maxOutputTokens: 1_500 },
    );
    assert.deepEqual(sent, { type: 'disabled' });
    assert.deepEqual(warnings, ['field-dropped reasoning']);
  });

  test('is not requested of a model that cannot think, and needs no switch to be off', () => {
    assert.deepEqual(thinking({ effort: 'high' }, {}, PLANNER).warnings, ['field-dropped reasoning']);
    const off = thinking({ effort: 'none' }, {}, PLANNER);
    assert.deepEqual([off.thinking, off.warnings], [undefined, []]);
  });

  test('keeps the budget of a messages caller, and none for adaptive thinking', () => {
    const { body } = encodeOfMessages({ thinking: { type: 'enabled', budget_tokens: 2_048 } });
    assert.deepEqual([body['thinking'], body['max_tokens']], [{ type: 'enabled', token_budget: 2_048 }, 4_000]);
    assert.deepEqual(encodeOfMessages({ thinking: { type: 'adaptive' } }).body['thinking'], { type: 'enabled' });
    assert.deepEqual(encodeOfMessages({ thinking: { type: 'disabled' } }).body['thinking'], { type: 'disabled' });
  });
});

suite('tools', () => {
  // @spec chat-23
  test('are functions with parameters, also where the caller gave none', () => {
    const bare = { type: 'function', function: { name: 'now' } };
    const { body, warnings } = encodeChat({ tools: [tool('weather'), bare] });
    assert.deepEqual(body['tools'], [
      tool('weather'),
      { type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } },
    ]);
    assert.deepEqual(warnings, []);
  });

  test('are the same from a messages caller', () => {
    const schema = { type: 'object', properties: {}, required: [] };
    const { body } = encodeOfMessages({ tools: [{ name: 'now', description: 'Tells', input_schema: schema }] });
    assert.deepEqual(body['tools'], [
      { type: 'function', function: { name: 'now', description: 'Tells', parameters: schema } },
    ]);
  });

  test('get other names where the format refuses theirs, wherever they stand', () => {
    const messages = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'get-it', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'a', content: 'done' },
    ];
    const encoded = encodeChat({ tools: [tool('get-it'), tool('2nd')], messages }, PLANNER);
    const names = (encoded.body['tools'] as readonly JsonObject[]).map(
      (entry) => (entry['function'] as JsonObject)['name'],
    );
    for (const name of names) assert.match(JSON.stringify(name), /^"[A-Za-z_][A-Za-z0-9_]*"$/);
    assert.deepEqual(
      [...(encoded.toolNames ?? [])],
      [
        [names[0], 'get-it'],
        [names[1], '2nd'],
      ],
    );
    assert.equal(calledIn(encoded.messages[1])[0]?.['name'], names[0]);
  });

  test('are strict where all are and each has a required parameter', () => {
    const strict = encodeChat({ tools: [tool('a', { strict: true }), tool('b', { strict: true })] });
    assert.equal(strict.body['strict_tools'], true);
    assert.deepEqual(strict.warnings, []);
    const mixed = encodeChat({ tools: [tool('a', { strict: true }), tool('b')] });
    assert.equal(mixed.body['strict_tools'], undefined);
    assert.deepEqual(mixed.warnings, ['field-dropped tools[0].function.strict']);
    const optional = encodeChat({ tools: [tool('a', { strict: true, parameters: { type: 'object' } })] });
    assert.deepEqual(optional.warnings, ['field-dropped tools[0].function.strict']);
  });

  test('can be demanded and forbidden where the model knows it', () => {
    const tools = [tool('a'), tool('b')];
    assert.equal(encodeChat({ tools, tool_choice: 'required' }, PLANNER).body['tool_choice'], 'REQUIRED');
    assert.equal(encodeChat({ tools, tool_choice: 'none' }, PLANNER).body['tool_choice'], 'NONE');
    assert.equal(encodeChat({ tools, tool_choice: 'auto' }, PLANNER).body['tool_choice'], undefined);
    assert.deepEqual(encodeChat({ tools, tool_choice: 'required' }).warnings, ['field-dropped tool_choice']);
  });

  test('are offered without the others when one is named', () => {
    const named = { type: 'function', function: { name: 'b' } };
    const { body, warnings } = encodeChat({ tools: [tool('a'), tool('b')], tool_choice: named }, PLANNER);
    assert.deepEqual([body['tools'], body['tool_choice']], [[tool('b')], 'REQUIRED']);
    assert.deepEqual(warnings, ['field-changed tools']);
  });

  test('are not offered, when forbidden, to a model without that choice', () => {
    const { body, warnings } = encodeChat({ tools: [tool('a')], tool_choice: 'none' });
    assert.equal(body['tools'], undefined);
    assert.deepEqual(warnings, ['field-changed tool_choice']);
  });

  test('stay when earlier turns called them, and an instruction forbids them', () => {
    const messages = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', tool_calls: [{ id: 'x', type: 'function', function: { name: 'a', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'x', content: 'done' },
    ];
    const { body, messages: sent } = encodeChat({ tools: [tool('a')], tool_choice: 'none', messages });
    assert.equal((body['tools'] as readonly unknown[]).length, 1);
    assert.equal((sent[0] as JsonObject)['role'], 'system');
  });

  test('are noted when they run elsewhere', () => {
    const { body, warnings } = encodeOfMessages({ tools: [{ type: 'bash_20250124', name: 'bash' }] });
    assert.equal(body['tools'], undefined);
    assert.deepEqual(warnings, ['field-dropped tools[0]']);
  });
});

test('warnings name what a messages caller wrote in its own words', () => {
  const { warnings } = encodeOfMessages(
    {
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      tools: [{ name: 'now', input_schema: { type: 'object' } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    },
    PLANNER,
  );
  assert.deepEqual(warnings.toSorted(), [
    'field-changed output_config.format',
    'field-dropped thinking',
    'field-dropped tool_choice.disable_parallel_tool_use',
  ]);
});
