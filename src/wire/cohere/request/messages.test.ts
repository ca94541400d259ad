import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../../lib/json.ts';
import {
  calledIn,
  encodeChat,
  encodeOfMessages,
  PLANNER,
  THINKER,
  tool,
} from '../../../../tests/support/wire/cohere/request.ts';

const call = (id: string, name = 'weather', args = '{"city": "Berlin", "n": 1.0}'): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const result = (id: string, content: Json = 'Rain'): JsonObject => ({ role: 'tool', tool_call_id: id, content });
const user: JsonObject = { role: 'user', content: 'Go' };
const tools = [tool('weather')];

test('refuses a conversation of which nothing is left, and adds no text of its own', () => {
  const requested = { messages: [{ role: 'user', content: '' }], response_format: { type: 'json_object' } };
  assert.throws(() => encodeChat(requested), /contains nothing/);
});

test('roles and their order stay; a developer is a system', () => {
  const messages = [
    { role: 'system', content: 'Be kind.' },
    { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    { role: 'assistant', content: 'Hi' },
    { role: 'system', content: 'Now sing.' },
    { role: 'user', content: 'Go' },
  ];
  const { messages: sent, warnings } = encodeChat({ messages });
  assert.deepEqual(sent, [
    { role: 'system', content: 'Be kind.' },
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hi' },
    { role: 'system', content: 'Now sing.' },
    { role: 'user', content: 'Go' },
  ]);
  assert.deepEqual(warnings, []);
});

test('instructions of a messages caller stand first, without the line that marks its client', () => {
  const system = [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cch=abc;' },
    { type: 'text', text: 'Be kind.' },
  ];
  const { messages, warnings } = encodeOfMessages({ system });
  assert.deepEqual(messages, [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Hello' },
  ]);
  assert.deepEqual(warnings, ['content-dropped system[0]']);
});

test('names of speakers stand before their words', () => {
  const messages = [
    { role: 'user', name: 'Ann', content: 'Hello' },
    { role: 'assistant', name: 'Bot', content: 'Hi' },
    user,
  ];
  assert.deepEqual(encodeChat({ messages }).messages.slice(0, 2), [
    { role: 'user', content: 'Ann: Hello' },
    { role: 'assistant', content: 'Bot: Hi' },
  ]);
});

test('pictures go as addresses or data, with a detail that the format knows', () => {
  const content = [
    { type: 'text', text: 'Look' },
    { type: 'image_url', image_url: { url: 'https://a.example/x.png', detail: 'original' } },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ];
  const { messages, warnings } = encodeChat({ messages: [{ role: 'user', content }] });
  assert.deepEqual(messages[0], {
    role: 'user',
    content: [
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: 'https://a.example/x.png', detail: 'high' } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'auto' } },
    ].map((part, at) => (at === 2 ? { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } } : part)),
  });
  assert.deepEqual(warnings, []);
});

test('files of text are written out; others are refused', () => {
  const file = (mediaType: string): JsonObject => ({
    type: 'file',
    file: { filename: 'notes', file_data: `data:${mediaType};base64,${Buffer.from('a,b').toString('base64')}` },
  });
  const content = [{ type: 'text', text: 'Read' }, file('text/csv')];
  const { messages, warnings } = encodeChat({ messages: [{ role: 'user', content }] });
  assert.deepEqual(messages[0], {
    role: 'user',
    content: [
      { type: 'text', text: 'Read' },
      { type: 'text', text: '<document title="notes">\na,b\n</document>' },
    ],
  });
  assert.deepEqual(warnings, []);
  const requested = { messages: [{ role: 'user', content: [...content, file('application/pdf')] }] };
  assert.throws(() => encodeChat(requested), /: messages\[0\]\.content\[2\]: is a document, which/);
});

suite('a document that the caller wants cited', () => {
  const document = (title: string): JsonObject => ({
    type: 'document',
    title,
    source: { type: 'text', media_type: 'text/plain', data: `About ${title}.` },
    citations: { enabled: true },
  });
  const content = [document('Tides'), document('Moons'), { type: 'text', text: 'Why?' }];

  test('stands where the model cites from', () => {
    const { body, messages, warnings } = encodeOfMessages({ messages: [{ role: 'user', content }] });
    assert.deepEqual(body['documents'], [
      { id: 'doc:0', data: { title: 'Tides', text: 'About Tides.' } },
      { id: 'doc:1', data: { title: 'Moons', text: 'About Moons.' } },
    ]);
    assert.deepEqual(messages, [{ role: 'user', content: 'Why?' }]);
    assert.deepEqual(warnings, []);
  });

  test('is written out where the response must have a form, which cannot stand beside documents', () => {
    const schema = { type: 'object', properties: {}, required: [] };
    const { body, messages } = encodeOfMessages({
      messages: [{ role: 'user', content }],
      output_config: { format: { type: 'json_schema', schema } },
    });
    assert.equal(body['documents'], undefined);
    assert.match(JSON.stringify(messages), /About Tides/);
    assert.notEqual(body['response_format'], undefined);
  });
});

suite('an assistant that called tools', () => {
  const reasoning = [{ type: 'reasoning.text', text: 'I will look.', format: 'unknown', index: 0 }];
  const turn = { role: 'assistant', content: 'One moment.', reasoning_details: reasoning, tool_calls: [call('a')] };
  const messages = [user, turn, result('a')];

  test('gets its plan back where the model writes plans, arguments byte for byte', () => {
    const { messages: sent, warnings } = encodeChat({ messages, tools }, PLANNER);
    assert.deepEqual(sent[1], {
      role: 'assistant',
      tool_plan: 'I will look.\n\nOne moment.',
      tool_calls: [call('a')],
    });
    assert.deepEqual(sent[2], { role: 'tool', tool_call_id: 'a', content: 'Rain' });
    assert.deepEqual(warnings, []);
  });

  test('gets its thinking back where the model thinks, its text with it, because no text may stand beside calls', () => {
    const { messages: sent, warnings } = encodeChat({ messages, tools });
    assert.deepEqual(sent[1], {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I will look.' },
        { type: 'thinking', thinking: 'One moment.' },
      ],
      tool_calls: [call('a')],
    });
    assert.deepEqual(warnings, ['field-changed messages[1].content']);
  });

  test('keeps only its calls where the model may not think', () => {
    const { messages: sent, warnings } = encodeChat({ messages, tools, reasoning: { enabled: false } });
    assert.deepEqual(sent[1], { role: 'assistant', tool_calls: [call('a')] });
    assert.equal(warnings.length, 2);
  });

  test('is the same from a messages caller', () => {
    const content = [
      { type: 'thinking', thinking: 'I will look.', signature: '' },
      { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Berlin' } },
    ];
    const encoded = encodeOfMessages({
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Go' },
        { role: 'assistant', content },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'Rain' },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
    });
    assert.deepEqual(encoded.messages.slice(1), [
      {
        role: 'assistant',
        content: [{ type: 'thinking', thinking: 'I will look.' }],
        tool_calls: [call('a', 'weather', '{"city":"Berlin"}')],
      },
      { role: 'tool', tool_call_id: 'a', content: 'Rain' },
      { role: 'user', content: 'And?' },
    ]);
    assert.deepEqual(encoded.warnings, []);
  });
});

suite('reasoning', () => {
  const stated = (detail: JsonObject): JsonObject => ({
    role: 'assistant',
    content: 'Four.',
    reasoning_details: [{ index: 0, ...detail }],
  });

  test('goes back without a signature to a model that thinks', () => {
    const messages = [user, stated({ type: 'reasoning.text', text: 'Two and two.', format: 'unknown' }), user];
    assert.deepEqual(encodeChat({ messages }).messages[1], {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Two and two.' },
        { type: 'text', text: 'Four.' },
      ],
    });
    const planner = encodeChat({ messages }, PLANNER);
    assert.deepEqual(planner.messages[1], { role: 'assistant', content: 'Four.' });
    assert.equal(planner.warnings.length, 1);
  });

  for (const detail of [
    { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'anthropic-claude-v1' },
    { type: 'reasoning.encrypted', data: 'Zm9v', format: 'openai-responses-v1' },
  ]) {
    test(`stays away when only its maker can read it: ${detail.type}`, () => {
      const { messages, warnings } = encodeChat({ messages: [user, stated(detail), user] });
      assert.deepEqual(messages[1], { role: 'assistant', content: 'Four.' });
      assert.deepEqual(
        warnings.map((warning) => warning.split(' ')[0]),
        ['content-dropped'],
      );
    });
  }
});

suite('results of calls', () => {
  const two = { role: 'assistant', tool_calls: [call('a'), call('b')] };

  test('follow their calls in order, whatever stood between, and each call has one', () => {
    const messages = [user, two, result('b', '2'), { role: 'user', content: 'Hurry' }, result('b', '3')];
    const { messages: sent, warnings } = encodeChat({ messages, tools }, PLANNER);
    assert.deepEqual(sent.slice(2), [
      { role: 'tool', tool_call_id: 'a', content: 'Error: this call was not answered' },
      { role: 'tool', tool_call_id: 'b', content: '3' },
      { role: 'user', content: 'Hurry' },
    ]);
    assert.deepEqual(warnings.toSorted(), ['content-dropped messages[2]', 'field-changed messages[2]']);
  });

  test('are refused for unknown calls', () => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'zz', content: 'x' },
          { type: 'text', text: 'Hi' },
        ],
      },
    ];
    const refusal = /messages\[0\]\.content\[0\]\.tool_use_id/;
    assert.throws(() => encodeOfMessages({ messages }), refusal);
  });

  test('say that they failed; empty ones are an empty object', () => {
    const content = [
      { type: 'tool_use', id: 'a', name: 'weather', input: {} },
      { type: 'tool_use', id: 'b', name: 'weather', input: {} },
    ];
    const { messages } = encodeOfMessages({
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      messages: [
        user,
        { role: 'assistant', content },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'no such city', is_error: true },
            { type: 'tool_result', tool_use_id: 'b' },
          ],
        },
      ],
    });
    assert.deepEqual(messages.slice(2), [
      { role: 'tool', tool_call_id: 'a', content: 'Error: no such city' },
      { role: 'tool', tool_call_id: 'b', content: '{}' },
    ]);
  });

  test('are followed by their pictures, because a tool message cannot hold any', () => {
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const { messages } = encodeOfMessages({
      tools: [{ name: 'shot', input_schema: { type: 'object' } }],
      messages: [
        user,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'shot', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [picture] }] },
      ],
    });
    assert.deepEqual(messages.slice(2), [
      { role: 'tool', tool_call_id: 'a', content: 'The result is in the user message that follows.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Files of the result of shot (a):' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ]);
  });

  test('get distinct ids for calls whose ids come twice', () => {
    const again = { role: 'assistant', tool_calls: [call('a')] };
    const messages = [user, again, result('a', '1'), again, result('a', '2')];
    const { messages: sent } = encodeChat({ messages, tools }, PLANNER);
    const ids = sent.flatMap((message) => {
      const { tool_call_id: id, tool_calls: calls } = message as JsonObject;
      return Array.isArray(calls) ? [(calls[0] as JsonObject)['id']] : id === undefined ? [] : [id];
    });
    assert.deepEqual(ids, ['a', 'a', 'a_1', 'a_1']);
  });

  test('are owed to a history that ends with calls', () => {
    const { messages: sent } = encodeChat(
      { messages: [user, { role: 'assistant', tool_calls: [call('a')] }], tools },
      PLANNER,
    );
    assert.equal((sent.at(-1) as JsonObject)['role'], 'tool');
  });
});

// @spec translate-5
test('arguments that are no object stay readable', () => {
  const messages = [user, { role: 'assistant', tool_calls: [call('a', 'weather', 'Berlin')] }, result('a')];
  const { messages: sent } = encodeChat({ messages, tools }, PLANNER);
  assert.equal(calledIn(sent[1])[0]?.['arguments'], '{"_raw":"Berlin"}');
});

test('empty texts are not sent, and a turn without anything is left out', () => {
  const messages = [
    { role: 'user', content: '' },
    {
      role: 'user',
      content: [
        { type: 'text', text: '' },
        { type: 'text', text: 'Hi' },
      ],
    },
  ];
  const { messages: sent, warnings } = encodeChat({ messages });
  assert.deepEqual(sent, [{ role: 'user', content: 'Hi' }]);
  assert.deepEqual(warnings, ['content-dropped messages[0]']);
});

test('keeps the beginning of a conversation byte for byte when it continues', () => {
  const first = [user, { role: 'assistant', content: 'A', tool_calls: [call('a', 'get-it')] }, result('a')];
  const more = [...first, { role: 'assistant', content: 'Rain.' }, user];
  for (const target of [PLANNER, THINKER]) {
    const before = JSON.stringify(encodeChat({ messages: first, tools: [tool('get-it')] }, target).messages);
    const after = JSON.stringify(encodeChat({ messages: more, tools: [tool('get-it')] }, target).messages);
    assert.ok(after.startsWith(before.slice(0, -1)));
  }
});
