import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { RequestTarget } from '../support/prepare-request.ts';
import { prepareResponsesRequest, RESPONSES, sealReasoning } from './full-responses.ts';
import { TARGETS } from './targets.ts';

const IMAGE = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
const LIST = { type: 'function', name: 'ls', parameters: { type: 'object', properties: {} } };
const HELLO = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'list' }] };
const CALL = { type: 'function_call', call_id: 'call_a', name: 'ls', arguments: '{}' };
const OUTPUT = { type: 'function_call_output', call_id: 'call_a', output: 'a b' };
const PATCH = '*** Begin Patch\n+\t"quoted" \\u0041 🌊\n*** End Patch';

/** A body of a request as an upstream gets it. */
function sent(body: JsonObject, target: RequestTarget): JsonObject {
  const prepared = prepareResponsesRequest({ model: 'acme/one', ...body }, target);
  assert.equal(prepared['refused'], undefined, JSON.stringify(prepared['message']));
  assert.ok(isJsonObject(prepared['body']));
  return prepared['body'];
}

function list(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** All objects inside of a body that `is` is true of. */
function find(value: Json | undefined, is: (object: JsonObject) => boolean): readonly JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => find(item, is));
  if (!isJsonObject(value)) return [];
  return [...(is(value) ? [value] : []), ...Object.values(value).flatMap((inner) => find(inner, is))];
}

suite('requests of the responses format, as clients send them', () => {
  // @spec responses-52
  test('become the messages of another vendor, with the thought that was sealed', () => {
    const encrypted = sealReasoning({
      item: 'rs_1',
      family: 'anthropic-claude-v1',
      blocks: [{ form: 'text', text: 'The user wants a file list.', signature: 'EqQB', index: 0 }],
    });
    const input = [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
      HELLO,
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Short.' }], encrypted_content: encrypted },
      { ...CALL, arguments: '{"d":"."}' },
      { type: 'function_call', call_id: 'call_b', name: 'read', namespace: 'mcp__files', arguments: '{}' },
      OUTPUT,
      { type: 'function_call_output', call_id: 'call_b', output: [IMAGE] },
    ];
    const body = sent({ input }, TARGETS.messages);
    assert.deepEqual(body['system'], [{ type: 'text', text: 'Be brief.' }]);
    assert.deepEqual(body['messages'], [
      { role: 'user', content: [{ type: 'text', text: 'list' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'The user wants a file list.', signature: 'EqQB' },
          { type: 'tool_use', id: 'call_a', name: 'ls', input: { d: '.' } },
          { type: 'tool_use', id: 'call_b', name: 'mcp__files__read', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_a', content: 'a b' },
          {
            type: 'tool_result',
            tool_use_id: 'call_b',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
          },
        ],
      },
    ]);
  });

  // @spec responses-54, responses-pains-4
  test('take the thought beside a call back to a host that demands it', () => {
    const thought = (text: string): JsonObject => ({
      type: 'reasoning',
      summary: [],
      encrypted_content: sealReasoning({
        family: 'unknown',
        blocks: [{ form: 'text', text, carrier: 'reasoning_content', index: 0 }],
      }),
    });
    const second = [thought('Once more.'), { ...CALL, call_id: 'call_b' }, { ...OUTPUT, call_id: 'call_b' }];
    const input = [HELLO, thought('I must look.'), CALL, OUTPUT, ...second];
    const target: RequestTarget = { adapter: 'deepseek', model: 'deepseek-reasoner', format: 'chat' };
    const assistants = list(sent({ input, tools: [LIST] }, target)['messages']).filter(
      ({ role }) => role === 'assistant',
    );
    assert.deepEqual(
      assistants.map(({ reasoning_content: text }) => text),
      ['I must look.', 'Once more.'],
    );
  });

  // @spec responses-pains-6
  test('keep readable reasoning from a vendor that takes none', () => {
    const item = {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Short.' }],
      content: [{ type: 'reasoning_text', text: 'Raw.' }],
    };
    const [, reasoning] = list(sent({ input: [HELLO, item, CALL, OUTPUT] }, TARGETS.responses)['input']);
    assert.deepEqual(reasoning, { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Short.' }] });
  });

  for (const [name, target] of Object.entries(TARGETS)) {
    // @spec responses-47, responses-pains-20
    test(`play a patch back byte for byte: ${name}`, () => {
      const input = [
        HELLO,
        { type: 'custom_tool_call', call_id: 'call_p', name: 'patch', input: PATCH },
        { type: 'custom_tool_call_output', call_id: 'call_p', output: 'Done.' },
      ];
      const body = sent({ input, tools: [{ type: 'custom', name: 'patch' }] }, target);
      const wrapped = JSON.stringify({ input: PATCH });
      const found = find(body, ({ input: given, arguments: text }) => given === PATCH || text === wrapped);
      assert.equal(found.length, 1);
    });

    // @spec responses-37, responses-pains-22
    test(`may declare all tools in an item: ${name}`, () => {
      const tools = [LIST, { type: 'namespace', name: 'mcp__files', tools: [{ ...LIST, name: 'read' }] }];
      const input = [{ type: 'additional_tools', role: 'developer', tools }, HELLO];
      const text = JSON.stringify(sent({ input }, target)['tools'] ?? sent({ input }, target)['toolConfig']);
      assert.match(text, /"ls"/);
      assert.match(text, /"read"|"mcp__files__read"/);
    });

    // @spec responses-49, responses-pains-29
    test(`may have a history of shells and searches: ${name}`, () => {
      const input = [
        HELLO,
        { type: 'local_shell_call', id: 'lsh_1', call_id: 'c1', action: { type: 'exec', command: ['ls'], env: {} } },
        { type: 'shell_call', call_id: 'c2', action: { commands: ['ls'] } },
        { type: 'tool_search_call', call_id: 'c3', execution: 'client', arguments: { query: 'a' } },
        { type: 'tool_search_output', call_id: 'c3', execution: 'client', tools: [] },
        { type: 'shell_call_output', call_id: 'c2', output: [] },
        { type: 'local_shell_call_output', call_id: 'c1', output: 'a' },
      ];
      const prepared = prepareResponsesRequest({ model: 'a', input, tools: [LIST] }, target);
      const warnings = Array.isArray(prepared['warnings']) ? prepared['warnings'] : [];
      assert.deepEqual(
        warnings.filter((warning: Json) => /result|call/.test(JSON.stringify(warning))),
        [],
        'each call has its own result',
      );
    });

    // @spec responses-29, responses-pains-30
    test(`match outputs to calls by their ids: ${name}`, () => {
      const second = { ...CALL, call_id: 'call_b' };
      const input = [
        HELLO,
        CALL,
        second,
        { ...OUTPUT, call_id: 'call_b', output: 'second' },
        { ...OUTPUT, output: 'first' },
      ];
      const text = JSON.stringify(sent({ input, tools: [LIST] }, target));
      assert.ok(text.lastIndexOf('first') < text.lastIndexOf('second'), 'in the order of the calls');
    });

    // @spec responses-36, responses-pains-46
    test(`give the same bytes for the same input, and keep them when a turn is added: ${name}`, () => {
      const { tool_choice: _choice, ...full } = RESPONSES;
      const items = list(full['input']).filter(({ role }) => role !== 'user');
      const grown = [...items, { role: 'user', content: 'More.' }];
      const first = sent({ ...full, input: [HELLO, ...items] }, target);
      assert.equal(JSON.stringify(sent({ ...full, input: [HELLO, ...items] }, target)), JSON.stringify(first));
      const more = sent({ ...full, input: [HELLO, ...grown] }, target);
      const before = list(first['messages'] ?? first['input'] ?? first['contents']);
      const after = list(more['messages'] ?? more['input'] ?? more['contents']);
      assert.ok(before.length > 2);
      // The last one may have been joined with what was added.
      assert.deepEqual(after.slice(0, before.length - 1), before.slice(0, -1));
      assert.deepEqual(more['tools'] ?? more['toolConfig'], first['tools'] ?? first['toolConfig']);
    });
  }

  // @spec responses-32, responses-pains-25
  test('hold nothing in the ids of items that the vendor would refuse', () => {
    const input = [
      HELLO,
      { type: 'message', id: 'gen-1', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { ...CALL, id: 'toolu_1' },
      { ...OUTPUT, id: 'x' },
      { type: 'local_shell_call', id: 'toolu_2', call_id: 'c', action: { type: 'exec', command: ['ls'], env: {} } },
      { type: 'local_shell_call_output', call_id: 'c', output: 'a' },
    ];
    const items = list(sent({ input }, TARGETS.responses)['input']);
    assert.deepEqual(
      items
        .map(({ id }) => id)
        .filter((id) => id !== undefined && id !== 'c' && !/^"lsh_[0-9a-f]{24}"$/.test(JSON.stringify(id))),
      [],
    );
  });

  // @spec responses-30, responses-pains-26
  test('take images in outputs to the result, or to the user right behind it', () => {
    const input = [HELLO, CALL, { ...OUTPUT, output: [{ type: 'input_text', text: 'See.' }, IMAGE] }];
    const holdsImage = (object: JsonObject): boolean => JSON.stringify(object).includes('AAAA');
    const results = {
      messages: (object: JsonObject) => object['type'] === 'tool_result',
      gemini: (object: JsonObject) => isJsonObject(object['functionResponse']),
      converse: (object: JsonObject) => isJsonObject(object['toolResult']),
    };
    for (const [name, isResult] of Object.entries(results)) {
      const target = Object.entries(TARGETS).find(([key]) => key === name)?.[1];
      assert.ok(target);
      assert.ok(find(sent({ input, tools: [LIST] }, target), isResult).some(holdsImage), name);
    }
    const last = list(sent({ input, tools: [LIST] }, TARGETS['chat-plain'])['messages']).at(-1);
    assert.equal(last?.['role'], 'user');
    assert.ok(holdsImage(last));
  });

  // @spec responses-31, responses-pains-27
  test('have arguments that no upstream refuses', () => {
    const broken = { ...CALL, call_id: 'call_b', arguments: '{"d":' };
    const input = [HELLO, { ...CALL, arguments: '' }, broken, OUTPUT, { ...OUTPUT, call_id: 'call_b' }];
    const [, , message] = list(sent({ input, tools: [LIST], instructions: 'Hi' }, TARGETS['chat-plain'])['messages']);
    const [empty] = list(message?.['tool_calls']);
    assert.equal(isJsonObject(empty?.['function']) && empty['function']['arguments'], '{}');
    const [, raw] = find(sent({ input, tools: [LIST] }, TARGETS.messages), ({ type }) => type === 'tool_use');
    assert.deepEqual(raw?.['input'], { _raw: '{"d":' });
  });

  // @spec responses-43, responses-pains-28
  test('leave strict absent where its caller does', () => {
    const tools = [LIST, { ...LIST, name: 'cp', strict: true }];
    assert.deepEqual(
      list(sent({ input: [HELLO], tools }, TARGETS.responses)['tools']).map(({ strict }) => strict),
      [undefined, true],
    );
  });
});
