import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { GenerationResponse } from '../../../canonical/response.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import { parseJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import type { FinalUsage } from '../../format.ts';
import { decodeWhole } from './response-in.ts';
import { encodeWhole } from './response-out.ts';
import { objectOf, objectsOf } from '../../json-fields.ts';
import { chunk, FINAL_USAGE, finish, foldStream, IDENTITY } from '../../../../tests/support/wire/chat/streams.ts';

function completion(message: JsonObject, choice: JsonObject = {}, members: JsonObject = {}): JsonObject {
  return {
    id: 'up-1',
    object: 'chat.completion',
    created: 5,
    model: 'one-2026',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...choice }],
    ...members,
  };
}

function fold(body: JsonObject): GenerationResponse {
  const events = decodeWhole(JSON.stringify(body));
  checkEvents(events);
  return foldEvents(events);
}

function write(response: GenerationResponse, finalUsage: FinalUsage = FINAL_USAGE): JsonObject {
  return parseJsonObject(encodeWhole(response, IDENTITY, finalUsage)) ?? assert.fail('the answer is JSON');
}

/** The same response as a caller of ours gets it. */
function relay(body: JsonObject): JsonObject {
  return write(fold(body));
}

function messageOf(response: JsonObject): JsonObject {
  return objectOf(objectsOf(response['choices'])[0]?.['message']) ?? assert.fail('the answer has a message');
}

const CALL: JsonObject = { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1.0}' } };

suite('whole chat response', () => {
  // @spec chat-response-1, chat-response-5, chat-response-14
  test('has every member that the format demands', () => {
    assert.deepEqual(
      relay(completion({ content: 'hi' }, {}, { usage: {}, system_fingerprint: 'fp', service_tier: 'flex' })),
      {
        id: 'gen-1',
        object: 'chat.completion',
        created: 1_760_000_000,
        model: 'acme/one',
        provider: 'Acme',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'hi', refusal: null },
            finish_reason: 'stop',
            native_finish_reason: 'stop',
          },
        ],
        system_fingerprint: 'fp',
        service_tier: 'flex',
        usage: {
          prompt_tokens: 20,
          completion_tokens: 9,
          total_tokens: 29,
          prompt_tokens_details: { cached_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 0 },
          cost: 0.00012,
          cost_details: {
            upstream_inference_cost: null,
            upstream_inference_prompt_cost: 0.00004,
            upstream_inference_completions_cost: 0.00008,
          },
          is_byok: false,
        },
      },
    );
    assert.equal(relay(completion({ content: 'hi' }))['system_fingerprint'], null);
  });

  test('shows metadata when it is requested', () => {
    const shown = write(fold(completion({ content: 'x' })), { ...FINAL_USAGE, serviceMetadata: { requested: 'r' } });
    assert.deepEqual(shown['service_metadata'], { requested: 'r' });
  });

  // @spec chat-response-7
  test('has no content with calls alone, and an empty one with nothing at all', () => {
    const calls = relay(completion({ content: null, tool_calls: [CALL] }, { finish_reason: 'tool_calls' }));
    assert.deepEqual(messageOf(calls), { role: 'assistant', content: null, refusal: null, tool_calls: [CALL] });
    assert.equal(messageOf(relay(completion({ content: '' })))['content'], '');
    assert.equal(messageOf(relay(completion({ refusal: 'no', content: null })))['content'], null);
  });

  // @spec chat-response-11
  test('encodes a call without arguments with the empty object', () => {
    const bare = { id: 'a', type: 'function', function: { name: 'f', arguments: '' } };
    const [call] = objectsOf(messageOf(relay(completion({ tool_calls: [bare] })))['tool_calls']);
    assert.deepEqual(call?.['function'], { name: 'f', arguments: '{}' });
  });

  // @spec chat-response-16
  test('unknown members of the upstream survive where they stood, but for those that are ours', () => {
    const body = completion(
      { content: 'x', x_message: 1, tool_calls: [{ ...CALL, extra_content: { s: 1 } }] },
      { x_choice: 2, logprobs: { content: [{ token: 'x' }] } },
      { x_top: 3, provider: 'Inner', service_metadata: { a: 1 } },
    );
    const sent = relay(body);
    assert.equal(sent['x_top'], 3);
    assert.equal(sent['provider'], 'Acme');
    assert.equal('service_metadata' in sent, false);
    const [choice] = objectsOf(sent['choices']);
    assert.deepEqual([choice?.['x_choice'], choice?.['logprobs']], [2, { content: [{ token: 'x' }] }]);
    assert.equal(messageOf(sent)['x_message'], 1);
    assert.deepEqual(messageOf(sent)['tool_calls'], [{ ...CALL, extra_content: { s: 1 } }]);
  });

  // @spec chat-response-8
  test('encodes reasoning as plain text and in detail', () => {
    const details: Json = [
      { type: 'reasoning.text', text: 'hm', signature: 's', index: 0, format: 'anthropic-claude-v1' },
      { type: 'reasoning.encrypted', data: 'e', index: 1, id: 'rs', format: 'openai-responses-v1' },
      { type: 'reasoning.server_tool_call', tool_name: 't', arguments: '{}', result: '{}' },
    ];
    const sent = messageOf(relay(completion({ content: 'x', reasoning: 'hm', reasoning_details: details })));
    assert.deepEqual([sent['reasoning'], sent['reasoning_details']], ['hm', details]);
    const plain = messageOf(relay(completion({ content: 'x', reasoning_content: 'so' })));
    assert.deepEqual(plain['reasoning_details'], [{ type: 'reasoning.text', text: 'so', index: 0, format: 'unknown' }]);
    assert.equal('reasoning_content' in plain, false);
  });

  // @spec chat-response-9, chat-response-10
  test('annotations, pictures and audio pass', () => {
    const message = {
      content: 'x',
      annotations: [
        { type: 'url_citation', url_citation: { url: 'https://a', title: 'A', start_index: 0, end_index: 1 } },
        { type: 'file', file: { hash: 'h', content: [] } },
      ],
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' }, index: 0 }],
      audio: { id: 'au', data: 'AAAA', transcript: 'Hi', expires_at: 9 },
    };
    assert.deepEqual(messageOf(relay(completion(message))), { role: 'assistant', refusal: null, ...message });
  });

  // @spec chat-response-13
  test('encodes the error of one that broke off', () => {
    const response = foldStream(chunk({ content: 'partial' }));
    const [choice] = objectsOf(write(response)['choices']);
    assert.deepEqual(choice, {
      index: 0,
      message: { role: 'assistant', content: 'partial', refusal: null },
      finish_reason: 'error',
      native_finish_reason: null,
      error: {
        code: 502,
        message: "The provider's response ended too early.",
        metadata: { error_type: 'provider_unavailable' },
      },
    });
  });
});

suite('whole chat response of an upstream', () => {
  test('fails on an error object, and reports anything but a response as garbage', () => {
    assert.equal(fold({ error: { code: 429, message: 'slow' } }).failure?.errorType, 'rate_limit_exceeded');
    for (const text of ['', 'null', '[]', '"x"', '{}', '{"choices":[]}', '<html>', '{"choices":[{"ind'])
      assert.deepEqual(
        decodeWhole(text).map((event) => event.type === 'failed' && event.failure.kind),
        ['garbage'],
        text,
      );
  });

  test('keeps the content of a response beside its error', () => {
    const broken = fold(
      completion({ content: 'part' }, { finish_reason: 'error', error: { code: 502, message: 'x' } }),
    );
    assert.equal(broken.blocks.length, 1);
    assert.equal(broken.failure?.status, 502);
  });

  test('ignores a usage without any count of tokens, so that the gateway counts itself', () => {
    for (const usage of [{}, { prompt_tokens: -5, completion_tokens: 'x' }, { input_tokens: 100, output_tokens: 10 }])
      assert.equal(fold(completion({ content: 'x' }, {}, { usage })).usage, undefined);
    assert.equal(fold(completion({ content: 'x' }, {}, { usage: { prompt_tokens: 3 } })).usage?.promptTokens, 3);
  });

  test('members that came in several chunks of a stream are joined, and those of the response itself replace each other', () => {
    const tools = (index: number): JsonObject => ({ executed_tools: [{ index }] });
    const response = write(
      foldStream(
        chunk({ role: 'assistant', content: '' }, {}, { x_found: [1] }),
        chunk(tools(0)),
        chunk(tools(1), {}, { x_found: [1, 2] }),
        chunk({ content: 'a' }),
        finish('stop'),
      ),
    );
    assert.deepEqual(messageOf(response)['executed_tools'], [{ index: 0 }, { index: 1 }]);
    assert.deepEqual(response['x_found'], [1, 2]);
  });

  // @spec chat-response-6
  test('decodes a missing finish reason as unknown', () => {
    const { end } = fold(completion({ content: 'x' }, { finish_reason: null }));
    assert.deepEqual(end, { type: 'end', finish: 'unknown' });
  });

  // @spec chat-response-11
  test('arguments as an object become text with their numbers as written', () => {
    const text =
      '{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1.0}}}]},"finish_reason":"tool_calls"}]}';
    const [block] = foldEvents(decodeWhole(text)).blocks;
    assert.equal(block?.type === 'tool-call' && block.input, '{"x":1.0}');
  });

  test('whatever JSON comes, it is decoded', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 3 }), (body, message) => {
        checkEvents(decodeWhole(JSON.stringify(body)));
        const choices = [{ index: 0, message, delta: message, finish_reason: body, usage: body, logprobs: message }];
        const events = decodeWhole(JSON.stringify({ choices, usage: message }));
        checkEvents(events);
        JSON.parse(encodeWhole(foldEvents(events), IDENTITY, FINAL_USAGE));
      }),
      { numRuns: 200 },
    );
  });
});

// @spec stream-7
test('folds a stream and the same response in one piece to the same', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const annotation = {
    type: 'url_citation',
    url_citation: { url: 'https://a', title: 'A', start_index: 0, end_index: 2 },
  };
  const streamed = foldStream(
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'h', index: 0, format: 'unknown' }] }),
    chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'm', index: 0, format: 'unknown' }] }),
    chunk({ content: 'ab' }),
    chunk({ content: 'cd' }),
    chunk({ annotations: [annotation] }),
    chunk({ refusal: 'n' }),
    chunk({ refusal: 'o' }),
    chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] }),
    chunk({ tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '1.0}' } }] }),
    finish('tool_calls', { usage }),
  );
  const whole = fold(
    completion(
      {
        content: 'abcd',
        refusal: 'no',
        reasoning: 'hm',
        reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0, format: 'unknown' }],
        tool_calls: [CALL, { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } }],
        annotations: [annotation],
      },
      { finish_reason: 'tool_calls' },
      { usage },
    ),
  );
  // The place of a citation is in the annotation itself; in a stream it also comes with the text that is being written.
  assert.deepEqual(write(streamed), write(whole));
  assert.deepEqual(
    streamed.blocks.map((block) => (block.type === 'text' ? { ...block, citations: [] } : block)),
    whole.blocks.map((block) => (block.type === 'text' ? { ...block, citations: [] } : block)),
  );
  assert.deepEqual([streamed.usage, streamed.end], [whole.usage, whole.end]);
});
