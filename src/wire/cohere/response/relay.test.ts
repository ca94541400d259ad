import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../../canonical/fold.ts';
import { NO_USAGE } from '../../../canonical/usage.ts';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { ChatStreamEncoder } from '../../chat/response/stream-out.ts';
import { encodeWhole as encodeChat } from '../../chat/response/response-out.ts';
import { FINAL_USAGE, deltasOf, IDENTITY, readStream } from '../../../../tests/support/wire/chat/streams.ts';
import { encodeWhole as encodeMessages } from '../../messages/response/response-out.ts';
import {
  decodeStream,
  PLAN_AND_CALLS,
  stream,
  THOUGHT_AND_CITED,
  WITH_LOGPROBS,
} from '../../../../tests/support/wire/cohere/streams.ts';

function chatMessage(events: readonly JsonObject[]): JsonObject {
  const response = foldEvents(decodeStream(stream(events)));
  const encoded =
    parseJsonObject(encodeChat(response, IDENTITY, { ...FINAL_USAGE, usage: response.usage ?? NO_USAGE })) ?? {};
  const { choices } = encoded;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  assert.ok(isJsonObject(choice) && isJsonObject(choice['message']));
  return { ...choice['message'], usage: encoded['usage'], logprobs: choice['logprobs'] };
}

function messagesContent(events: readonly JsonObject[]): readonly JsonObject[] {
  const response = foldEvents(decodeStream(stream(events)));
  const encoded = parseJsonObject(
    encodeMessages(response, IDENTITY, { ...FINAL_USAGE, usage: response.usage ?? NO_USAGE }),
  );
  const content = encoded?.['content'];
  assert.ok(Array.isArray(content));
  return content.filter(isJsonObject);
}

suite('a chat caller', () => {
  test('reads text, reasoning, sources and counts', () => {
    const message = chatMessage(THOUGHT_AND_CITED);
    assert.equal(message['content'], '🌊 Tides come from the moon.');
    assert.equal(message['reasoning'], 'The document says it — easily.');
    assert.deepEqual(message['annotations'], [
      {
        type: 'url_citation',
        url_citation: {
          url: 'doc:1',
          title: 'Tides',
          start_index: 23,
          end_index: 27,
          content: 'The moon pulls the sea.',
        },
      },
    ]);
    const usage = message['usage'];
    assert.ok(isJsonObject(usage));
    assert.deepEqual([usage['prompt_tokens'], usage['completion_tokens'], usage['total_tokens']], [210, 41, 251]);
    assert.deepEqual(usage['prompt_tokens_details'], { cached_tokens: 160 });
    assert.deepEqual(usage['completion_tokens_details'], { reasoning_tokens: 17 });
  });

  test('reads calls and the plan before them', () => {
    const message = chatMessage(PLAN_AND_CALLS);
    assert.equal(message['reasoning'], 'I will look up both cities.');
    assert.deepEqual(message['tool_calls'], [
      {
        id: 'weather_a1',
        type: 'function',
        function: { name: 'weather', arguments: '{"city": "Berlin", "days": 1.0}' },
      },
      { id: 'now_b2', type: 'function', function: { name: 'now', arguments: '{}' } },
    ]);
  });

  test('reads log probabilities, whole and streamed', () => {
    assert.match(JSON.stringify(chatMessage(WITH_LOGPROBS)['logprobs']), /"token":"Gü","logprob":-0\.75/);
    const events = decodeStream(stream(WITH_LOGPROBS));
    const encoder = new ChatStreamEncoder(IDENTITY);
    const chunks = readStream(encoder.encode(events) + encoder.close(FINAL_USAGE));
    const found = chunks.flatMap(({ choices }) => {
      const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
      return isJsonObject(choice) && isJsonObject(choice['logprobs']) ? [JSON.stringify(choice['logprobs'])] : [];
    });
    assert.equal(found.length, 2);
    assert.deepEqual(
      deltasOf(chunks)
        .map((delta) => delta['content'])
        .filter((text) => text !== '' && text !== undefined),
      ['Gü', 'nter'],
    );
  });
});

suite('a messages caller', () => {
  test('reads thinking, text and sources', () => {
    const [thinking, text] = messagesContent(THOUGHT_AND_CITED);
    assert.deepEqual(thinking, { type: 'thinking', thinking: 'The document says it — easily.', signature: '' });
    assert.equal(text?.['text'], '🌊 Tides come from the moon.');
    assert.deepEqual(text['citations'], [
      {
        type: 'web_search_result_location',
        cited_text: 'The moon pulls the sea.',
        url: 'doc:1',
        title: 'Tides',
        encrypted_index: '',
      },
    ]);
  });

  test('reads calls and the plan before them', () => {
    assert.deepEqual(
      messagesContent(PLAN_AND_CALLS).map(({ type, name }) => [type, name]),
      [
        ['thinking', undefined],
        ['tool_use', 'weather'],
        ['tool_use', 'now'],
      ],
    );
  });
});
