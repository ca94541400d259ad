import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../../canonical/fold.ts';
import { parseJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { objectOf, objectsOf } from '../../json-fields.ts';
import { decodeWhole } from '../response/response-in.ts';
import { encodeRequest } from './request-out.ts';
import { ChatStreamEncoder } from '../response/stream-out.ts';
import { encodeWhole } from '../response/response-out.ts';
import { decodeChat, PLAIN_TARGET } from '../../../../tests/support/wire/chat/request.ts';
import {
  chunk,
  FINAL_USAGE,
  decodeStream,
  finish,
  IDENTITY,
  stream,
} from '../../../../tests/support/wire/chat/streams.ts';

/** As MiniMax sends it: platform.minimax.io "OpenAI API", read 2026-11. */
function piece(words: string): JsonObject {
  return { type: 'reasoning.text', id: 'reasoning-text-1', format: 'MiniMax-response-v1', index: 0, text: words };
}

suite('reasoning under an unknown format', () => {
  const events = decodeStream(
    stream(
      chunk({ role: 'assistant', content: '', reasoning_details: [piece('I ')] }),
      chunk({ reasoning_details: [piece('think.')] }),
      chunk({ content: 'So.' }),
      finish('stop'),
    ),
  );

  test('is read as one block where it can be read', () => {
    const [block] = foldEvents(events).blocks;
    assert.ok(block?.type === 'reasoning');
    assert.deepEqual([block.text, block.form, block.family], ['I think.', 'text', 'unknown']);
  });

  test('reaches a caller in plain and in detail, under its own format, streamed as whole', () => {
    const whole = parseJsonObject(encodeWhole(foldEvents(events), IDENTITY, FINAL_USAGE));
    const message = objectOf(objectsOf(whole?.['choices'])[0]?.['message']);
    assert.equal(message?.['reasoning'], 'I think.');
    assert.deepEqual(message?.['reasoning_details'], [piece('I think.')]);
    const encoder = new ChatStreamEncoder(IDENTITY);
    const text = encoder.encode(events) + encoder.close(FINAL_USAGE);
    assert.equal(text.match(/"reasoning":"[^"]+"/g)?.join(), '"reasoning":"I ","reasoning":"think."');
    assert.equal(text.match(/"format":"MiniMax-response-v1"/g)?.length, 2);
  });

  // @spec chat-16
  test('goes back as it came', () => {
    const assistant: Json = { role: 'assistant', content: 'So.', reasoning_details: [piece('I think.')] };
    const { body } = encodeRequest(decodeChat({ messages: [{ role: 'user', content: 'hi' }, assistant] }), {
      ...PLAIN_TARGET,
      dialect: { reasoningMember: 'reasoning_details' },
    });
    assert.deepEqual(objectsOf(body['messages'])[1], assistant);
  });

  test('stays opaque where it is encrypted, because its vendor is unknown', () => {
    const detail: Json = { type: 'reasoning.encrypted', data: 'x', format: 'Own-v1', index: 0 };
    const message: Json = { role: 'assistant', content: 'So.', reasoning_details: [detail] };
    const answer = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
    const [block] = foldEvents(decodeWhole(JSON.stringify(answer))).blocks;
    assert.deepEqual(block, { type: 'opaque', format: 'chat', value: detail });
  });
});
