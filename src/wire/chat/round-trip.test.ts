import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { parseKeepingNumbers, type Json } from '../../lib/json.ts';
import { arbitraryChatRequest } from '../../../tests/support/wire/chat/arbitrary-request.ts';
import { encodeRequest } from './request/request-out.ts';
import { decodeChat, RICH_TARGET } from '../../../tests/support/wire/chat/request.ts';

function encodeAgain(body: Record<string, Json>): Json {
  return parseKeepingNumbers(JSON.stringify(encodeRequest(decodeChat(body), RICH_TARGET).body));
}

/** As a caller's request arrives, but for the model and for null where nothing was said. */
function asSent(body: Record<string, Json>): Json {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  return parseKeepingNumbers(
    JSON.stringify({
      ...body,
      messages: messages.map((message: Record<string, Json>) =>
        message['role'] === 'assistant' && message['content'] === undefined ? { ...message, content: null } : message,
      ),
      model: 'upstream-model',
    }),
  );
}

suite('chat request to a chat upstream', () => {
  // @spec chat-9, translate-1
  test('nothing that a caller said is lost or changed on the way', () => {
    fc.assert(
      fc.property(arbitraryChatRequest(), (body) => {
        assert.deepEqual(encodeAgain(body), asSent(body));
      }),
      { numRuns: 100 },
    );
  });

  // @spec prompt-cache-8
  test('encodes the same request always to the same bytes', () => {
    fc.assert(
      fc.property(arbitraryChatRequest(), (body) => {
        const once = JSON.stringify(encodeRequest(decodeChat(body), RICH_TARGET).body);
        const again = JSON.stringify(
          encodeRequest(decodeChat(parseKeepingNumbers(JSON.stringify(body))), RICH_TARGET).body,
        );
        assert.equal(once, again);
      }),
      { numRuns: 25 },
    );
  });

  test('decodes an encoded request to the same request', () => {
    fc.assert(
      fc.property(arbitraryChatRequest(), (body) => {
        const first = encodeRequest(decodeChat(body), RICH_TARGET).body;
        assert.deepEqual(encodeRequest(decodeChat(first), RICH_TARGET).body, first);
      }),
      { numRuns: 25 },
    );
  });

  test('gateway fields, options without effect and nulls are not sent', () => {
    const sent = encodeAgain({
      messages: [{ role: 'user', content: 'x', name: null }],
      model: 'acme/one',
      models: ['acme/two'],
      provider: { sort: 'price' },
      plugins: [{ id: 'web' }],
      route: 'fallback',
      session_id: 's',
      trace: { trace_id: 't' },
      stop_server_tools_when: [{ type: 'step_count_is', step_count: 1 }],
      max_tool_calls: 3,
      preset: 'p',
      debug: { echo_upstream_body: true },
      transforms: [],
      usage: { include: true },
      stream_options: { include_usage: true },
      include_reasoning: null,
      metadata: { a: 'b' },
      user: 'somebody@example.com',
      n: 2,
      temperature: null,
      stream: false,
      unknown: null,
    });
    assert.deepEqual(sent, { model: 'upstream-model', messages: [{ role: 'user', content: 'x' }] });
  });

  // @spec chat-14
  test('encodes a single stop sequence, a deprecated part and both spellings of a breakpoint in one way', () => {
    assert.deepEqual(
      encodeAgain({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'input_video', video_url: { url: 'https://a/v.mp4' } },
              { type: 'text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
            ],
          },
        ],
        stop: 'END',
        max_tokens: 5,
        reasoning_effort: 'low',
      }),
      {
        model: 'upstream-model',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'video_url', video_url: { url: 'https://a/v.mp4' } },
              { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } },
            ],
          },
        ],
        stop: ['END'],
        max_completion_tokens: 5,
        reasoning: { effort: 'low' },
      },
    );
  });
});
