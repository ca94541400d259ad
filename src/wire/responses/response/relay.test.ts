import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../../canonical/fold.ts';
import { NO_USAGE } from '../../../canonical/usage.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { ChatStreamEncoder } from '../../chat/response/stream-out.ts';
import { encodeWhole as encodeChat } from '../../chat/response/response-out.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { FINAL_USAGE, deltasOf, IDENTITY, readStream } from '../../../../tests/support/wire/chat/streams.ts';
import { encodeWhole as encodeMessages } from '../../messages/response/response-out.ts';
import {
  decodeStream,
  DRAWS_AND_REFUSES,
  SEARCHES_AND_CITES,
  stream,
  THINKS_AND_CALLS,
} from '../../../../tests/support/wire/responses/streams.ts';

function chatMessage(events: readonly JsonObject[]): JsonObject {
  const response = foldEvents(decodeStream(stream(events)));
  const encoded = parseJsonObject(
    encodeChat(response, IDENTITY, { ...FINAL_USAGE, usage: response.usage ?? NO_USAGE }),
  );
  const [choice] = objectsOf(encoded?.['choices']);
  return { ...objectOf(choice?.['message']), usage: encoded?.['usage'], finish_reason: choice?.['finish_reason'] };
}

function messagesResponse(events: readonly JsonObject[]): JsonObject {
  const response = foldEvents(decodeStream(stream(events)));
  return (
    parseJsonObject(encodeMessages(response, IDENTITY, { ...FINAL_USAGE, usage: response.usage ?? NO_USAGE })) ?? {}
  );
}

suite('a chat caller', () => {
  test('gets reasoning that can come back as it was, and calls byte for byte', () => {
    const message = chatMessage(THINKS_AND_CALLS);
    const detail = { id: 'rs_1', format: 'openai-responses-v1' };
    assert.deepEqual(
      objectsOf(message['reasoning_details']).map(({ index: _index, ...rest }) => rest),
      [
        { type: 'reasoning.summary', summary: '**Weather** first.', ...detail },
        { type: 'reasoning.summary', summary: '**Time** next — 🕐.', ...detail },
        { type: 'reasoning.encrypted', data: 'gAAAA-sealed', ...detail },
      ],
    );
    assert.deepEqual(
      objectsOf(message['tool_calls']).map((call) => [call['id'], objectOf(call['function'])?.['arguments']]),
      [
        ['call_a', '{"city": "Berlin", "days": 1.0}'],
        ['call_b', '{"zone":"Asia/Tōkyō","id":12345678901234567890}'],
      ],
    );
    assert.equal(message['finish_reason'], 'tool_calls');
    const usage = objectOf(message['usage']);
    assert.deepEqual([usage?.['prompt_tokens'], usage?.['completion_tokens']], [120, 45]);
    assert.deepEqual(objectOf(usage?.['completion_tokens_details'])?.['reasoning_tokens'], 20);
  });

  // @spec chat-response-12, translate-30
  test('gets sources whose offsets fit its text, and no call for a search that has been run', () => {
    const message = chatMessage(SEARCHES_AND_CITES);
    const content = textOf(message['content']) ?? '';
    assert.deepEqual(
      objectsOf(message['annotations']).map((annotation) => {
        const { start_index: start, end_index: end } = objectOf(annotation['url_citation']) ?? {};
        return content.slice(Number(start), Number(end));
      }),
      ['Mond', 'Sonne'],
    );
    assert.equal(message['tool_calls'], undefined);
    assert.equal(message['finish_reason'], 'stop');
  });

  test('gets the picture and the refusal', () => {
    const message = chatMessage(DRAWS_AND_REFUSES);
    const [image] = objectsOf(message['images']);
    assert.equal(objectOf(image?.['image_url'])?.['url'], 'data:image/webp;base64,aVZCT1I=');
    assert.equal(message['refusal'], 'No second one.');
  });

  test('gets the same in pieces', () => {
    for (const events of [THINKS_AND_CALLS, SEARCHES_AND_CITES, DRAWS_AND_REFUSES]) {
      const encoder = new ChatStreamEncoder(IDENTITY);
      const chunks = readStream(encoder.encode(decodeStream(stream(events))) + encoder.close(FINAL_USAGE));
      const deltas = deltasOf(chunks);
      const whole = chatMessage(events);
      const join = (member: string): string => deltas.map((delta) => textOf(delta[member]) ?? '').join('');
      assert.equal(join('content'), whole['content'] ?? '');
      assert.equal(join('refusal'), whole['refusal'] ?? '');
      assert.deepEqual(
        deltas.flatMap((delta) => objectsOf(delta['annotations'])),
        whole['annotations'] ?? [],
      );
    }
  });
});

suite('a messages caller', () => {
  test('gets thinking whose seal can come back, and calls', () => {
    const { content, stop_reason: reason } = messagesResponse(THINKS_AND_CALLS);
    const blocks = objectsOf(content);
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ['thinking', 'thinking', 'redacted_thinking', 'tool_use', 'tool_use'],
    );
    assert.equal(blocks[2]?.['data'], 'sealed-v1:openai-responses-v1:encrypted:rs_1:gAAAA-sealed');
    assert.equal(reason, 'tool_use');
  });

  test('gets the refusal as one', () => {
    const { stop_reason: reason, content } = messagesResponse(DRAWS_AND_REFUSES);
    assert.equal(reason, 'refusal');
    assert.match(JSON.stringify(content), /No second one\./);
  });
});
