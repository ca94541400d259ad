import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { GenerationRequest } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import { decodeChat } from '../../tests/support/wire/chat/request.ts';
import { warnOfDroppedFields, type SupportedFields } from './dropped-fields.ts';
import { createWarnings } from './gateway/warnings.ts';
import { decode } from '../../tests/support/wire/messages/request.ts';
import { decodeResponses } from '../../tests/translation/full-responses.ts';

function reported(request: GenerationRequest, takes: SupportedFields): readonly string[] {
  const warnings = createWarnings();
  warnOfDroppedFields(request, takes, warnings);
  return warnings.list.map(({ path }) => path);
}

const MARK = { type: 'ephemeral', ttl: '1h' };

const chat = decodeChat({
  own: 1,
  cache_control: MARK,
  reasoning: { effort: 'low', summary: 'auto', own: 1 },
  response_format: { type: 'json_schema', own: 1, json_schema: { name: 'n', schema: {}, own: 1 } },
  tools: [{ type: 'function', own: 1, cache_control: { ...MARK, own: 1 }, function: { name: 'f', own: 1 } }],
  messages: [
    {
      role: 'user',
      own: 1,
      content: [{ type: 'text', text: 'a', own: 1, prompt_cache_breakpoint: { mode: 'explicit' } }],
    },
    {
      role: 'assistant',
      content: 'b',
      reasoning: 'hm',
      reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0, own: 1 }],
      images: [{ type: 'image_url', own: 1, image_url: { url: 'https://x/y.png', own: 1 } }],
      annotations: [
        { type: 'url_citation', own: 1, url_citation: { url: 'u', title: 't', start_index: 0, end_index: 1 } },
      ],
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}', own: 1 } }],
    },
    { role: 'tool', own: 1, tool_call_id: 'c', content: [{ type: 'text', text: 'r', cache_control: MARK }] },
  ],
});

const messages = decode({
  own: 1,
  thinking: { type: 'adaptive', display: 'omitted', own: 1 },
  output_config: {
    format: { type: 'json_schema', schema: {}, own: 1 },
    task_budget: { type: 'tokens', total: 50_000 },
  },
  tool_choice: { type: 'auto', own: 1 },
  metadata: { user_id: 'u', own: 1 },
  tools: [{ type: 'custom', name: 'f', input_schema: {}, own: 1 }],
  system: [{ type: 'text', text: 'a', own: 1, cache_control: MARK }],
  messages: [
    {
      role: 'user',
      content: [
        {
          type: 'document',
          own: 1,
          source: { type: 'content', own: 1, content: [{ type: 'text', text: 'd', cache_control: MARK }] },
        },
        { type: 'tool_result', tool_use_id: 'x', content: [], cache_control: MARK },
        { type: 'tool_result', tool_use_id: 'y', content: [{ type: 'text', text: 'r', own: 1 }] },
      ],
    },
  ],
});

suite('on the way into another format', () => {
  test('reports every unknown member of a chat request at its own path', () => {
    assert.deepEqual(reported(chat, { format: 'messages' }).toSorted(), [
      'messages[0].content[0].own',
      'messages[0].own',
      'messages[1].annotations[0].own',
      'messages[1].images[0].image_url.own',
      'messages[1].images[0].own',
      'messages[1].reasoning_details[0].own',
      'messages[1].tool_calls[0].function.own',
      'messages[2].own',
      'own',
      'reasoning.own',
      'response_format.json_schema.own',
      'response_format.own',
      'tools[0].cache_control.own',
      'tools[0].function.own',
      'tools[0].own',
    ]);
  });

  test('reports every member of a messages request at its own path', () => {
    assert.deepEqual(reported(messages, { format: 'chat' }).toSorted(), [
      'messages[0].content[0].own',
      'messages[0].content[0].source.own',
      'messages[0].content[2].content[0].own',
      'metadata.own',
      'output_config.format.own',
      'output_config.task_budget',
      'own',
      'system[0].own',
      'thinking.own',
      'tool_choice.own',
      'tools[0].own',
    ]);
  });

  // @spec responses-17
  test('does not report `truncation`, which the gateway does itself', () => {
    const request = decodeResponses({ model: 'acme/one', input: 'Hello', truncation: 'auto', own: 1 });
    assert.deepEqual(reported(request, { format: 'chat' }), ['own']);
  });

  test('does not report the caller of a tool call that the model itself made', () => {
    const calledBy = (caller: JsonObject): readonly string[] => {
      const content = [{ type: 'tool_use', id: 'a', name: 'f', input: {}, caller }];
      const turns = [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content },
      ];
      return reported(decode({ model: 'acme/one', max_tokens: 9, messages: turns }), { format: 'chat' });
    };
    assert.deepEqual(calledBy({ type: 'direct' }), []);
    assert.deepEqual(calledBy({ type: 'code_execution_20260120', tool_id: 't' }), ['messages[1].content[0].caller']);
  });

  test('reports reasoning settings that the format cannot express', () => {
    const without = reported(messages, { format: 'chat', reasoning: [] });
    assert.ok(without.includes('thinking.display'));
    assert.ok(!reported(messages, { format: 'chat', reasoning: ['display'] }).includes('thinking.display'));
    assert.ok(reported(chat, { format: 'messages', reasoning: ['display'] }).includes('reasoning.summary'));
  });
});

suite('cache breakpoints', () => {
  test('are reported where the endpoint takes none', () => {
    assert.deepEqual(reported(chat, { format: 'chat', cacheBreakpoints: 'none' }).toSorted(), [
      'cache_control',
      'messages[0].content[0].prompt_cache_breakpoint',
      'messages[2].content[0].cache_control',
      'tools[0].cache_control',
    ]);
    const marks = reported(messages, { format: 'messages', cacheBreakpoints: 'none' });
    assert.deepEqual(marks.toSorted(), [
      'messages[0].content[0].source.content[0].cache_control',
      'messages[0].content[1].cache_control',
      'system[0].cache_control',
    ]);
  });

  test('are reported where only content takes some, and without a lifetime', () => {
    assert.deepEqual(reported(chat, { format: 'chat', cacheBreakpoints: 'content' }).toSorted(), [
      'cache_control',
      'messages[2].content[0].cache_control.ttl',
      'tools[0].cache_control',
    ]);
  });
});

test('reports nothing inside one format', () => {
  assert.deepEqual(reported(chat, { format: 'chat' }), []);
  assert.deepEqual(reported(messages, { format: 'messages' }), []);
});

test('reports beta flags once for a format that has none', () => {
  const flagged = decode({ messages: [{ role: 'user', content: 'a' }] }, { betas: ['a-2025-01-01', 'b-2025-01-01'] });
  assert.deepEqual(reported(flagged, { format: 'chat' }), ['anthropic-beta']);
  assert.deepEqual(reported(flagged, { format: 'converse', betas: true }), []);
});
