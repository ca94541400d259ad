import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { GenerationResponse } from '../../canonical/response.ts';
import { foldEvents } from '../../canonical/fold.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { parseJsonObject, type JsonObject } from '../../lib/json.ts';
import { encodeWhole as encodeChatResponse } from '../chat/response/response-out.ts';
import { objectOf, objectsOf } from '../json-fields.ts';
import { decodeChat } from '../../../tests/support/wire/chat/request.ts';
import { FINAL_USAGE, IDENTITY } from '../../../tests/support/wire/chat/streams.ts';
import { MessagesStreamEncoder } from '../messages/response/stream-out.ts';
import { encodeWhole as encodeMessagesResponse } from '../messages/response/response-out.ts';
import { checkStream, foldContent } from '../../../tests/support/wire/messages/stream-checker.ts';
import { MISSING_SIGNATURE, restoreCallSignatures, signaturesOfCalls } from './call-signatures.ts';
import { decodeWhole } from './response/response.ts';
import { encodeRequest } from './request/request.ts';
import {
  encodeChat,
  encoded,
  encodeOfMessages,
  partsOf,
  pastCall,
  SECOND,
  THIRD,
  type Encoded,
} from '../../../tests/support/wire/gemini/request.ts';
import {
  call,
  decodeStream,
  finish,
  GROUNDED,
  OTHER_SIGNATURE,
  SIGNATURE,
  stream,
  THOUGHT_AND_CALLS,
  WHOLE_GROUNDED,
} from '../../../tests/support/wire/gemini/streams.ts';

const USER = { role: 'user', content: 'Hi' };

function fold(chunks: readonly JsonObject[]): GenerationResponse {
  return foldEvents(decodeStream(stream(chunks)));
}

/** The message that a chat client keeps of a response. */
function chatMessage(response: GenerationResponse): JsonObject {
  const encodedRequest = parseJsonObject(encodeChatResponse(response, IDENTITY, { ...FINAL_USAGE, usage: NO_USAGE }));
  return objectOf(objectsOf(encodedRequest?.['choices'])[0]?.['message']) ?? assert.fail('there is a message');
}

/** The content that a messages client keeps of a streamed response. */
function messagesContent(chunks: readonly JsonObject[]): readonly JsonObject[] {
  const encoder = new MessagesStreamEncoder(IDENTITY);
  return foldContent(checkStream(encoder.encode(decodeStream(stream(chunks))) + encoder.close(FINAL_USAGE)));
}

/** A chat client's next request: the message, and a result for each of its calls. */
function nextOfChat(message: JsonObject): JsonObject {
  const results = objectsOf(message['tool_calls']).map(({ id }) => ({
    role: 'tool',
    tool_call_id: id ?? '',
    content: 'ok',
  }));
  return { messages: [USER, message, ...results] };
}

function nextOfMessages(content: readonly JsonObject[]): JsonObject {
  const results = content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => ({ type: 'tool_result', tool_use_id: id ?? '', content: 'ok' }));
  const last = { role: 'user', content: [...results, { type: 'text', text: 'Go on' }] };
  return { messages: [USER, { role: 'assistant', content }, last] };
}

/** `f signed`, `"text"`, `"" signed`: the parts of the model's turn. */
function modelParts({ contents }: Encoded): readonly string[] {
  return partsOf(contents[1]).map((part) => {
    const called = objectOf(part['functionCall'])?.['name'];
    const what =
      typeof called === 'string' ? called : part['thought'] === true ? 'thought' : JSON.stringify(part['text']);
    const { thoughtSignature: signature } = part;
    const word = signature === MISSING_SIGNATURE ? 'stopgap' : signature === SIGNATURE ? 'first' : 'other';
    return signature === undefined ? what : `${what} ${word}`;
  });
}

const without = (message: JsonObject, ...members: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(message).filter(([member]) => !members.includes(member)));

function withoutExtraContent(message: JsonObject): JsonObject {
  return { ...message, tool_calls: objectsOf(message['tool_calls']).map((entry) => without(entry, 'extra_content')) };
}

suite('the signature of a call, by way of a chat client', () => {
  const message = chatMessage(fold(THOUGHT_AND_CALLS));

  test('stands in the details with the id of its call, and on the call itself', () => {
    const details = objectsOf(message['reasoning_details']);
    assert.deepEqual(details[1], {
      type: 'reasoning.encrypted',
      data: SIGNATURE,
      id: 'fc_1',
      format: 'google-gemini-v1',
      index: 1,
    });
    assert.deepEqual(objectsOf(message['tool_calls'])[0]?.['extra_content'], {
      google: { thought_signature: SIGNATURE },
    });
  });

  for (const [what, kept] of [
    ['keeps all', message],
    ['keeps only the details', withoutExtraContent(message)],
    ['keeps only what is on the call', without(message, 'reasoning', 'reasoning_details')],
  ] as const) {
    test(`comes back onto its call and no other when the client ${what}`, () => {
      const next = encodeChat(nextOfChat(kept));
      const thought = objectsOf(kept['reasoning_details']).length > 0 ? ['thought'] : [];
      assert.deepEqual(modelParts(next), [...thought, 'weather first', 'weather']);
      assert.deepEqual(next.warnings, []);
    });
  }

  test('gives way to the stopgap when the client loses it, and the record says so', () => {
    const lost = withoutExtraContent(without(message, 'reasoning', 'reasoning_details'));
    const next = encodeChat(nextOfChat(lost));
    assert.deepEqual(modelParts(next), ['weather stopgap', 'weather']);
    assert.deepEqual(next.warnings, ['field-changed messages[1].tool_calls[0]']);
  });

  test('is restored by the id of the call when the client loses it', () => {
    const lost = withoutExtraContent(without(message, 'reasoning', 'reasoning_details'));
    const known = signaturesOfCalls(fold(THOUGHT_AND_CALLS).blocks);
    assert.deepEqual(known, new Map([['fc_1', SIGNATURE]]));
    const request = decodeChat({ model: 'acme/one', ...nextOfChat(lost) });
    const next = encoded(
      encodeRequest(
        restoreCallSignatures(request, (id) => known.get(id)),
        THIRD,
      ),
    );
    assert.deepEqual(modelParts(next), ['weather first', 'weather']);
    assert.deepEqual(next.warnings, []);
  });

  test('is not restored a second time when the client keeps it', () => {
    const request = decodeChat({ model: 'acme/one', ...nextOfChat(message) });
    const restored = restoreCallSignatures(request, (id) => (id === 'fc_1' ? OTHER_SIGNATURE : undefined));
    assert.equal(restored, request);
  });
});

suite('the signature of a call, by way of a messages client', () => {
  test('comes back onto its call and no other', () => {
    const content = messagesContent(THOUGHT_AND_CALLS);
    assert.deepEqual(
      content.map(({ type }) => type),
      ['thinking', 'redacted_thinking', 'tool_use', 'tool_use'],
    );
    const next = encodeOfMessages(nextOfMessages(content));
    assert.deepEqual(modelParts(next), ['thought', 'weather first', 'weather']);
    assert.deepEqual(next.warnings, []);
  });

  test('comes back onto the later call that it belongs to', () => {
    const calls = [call('a', {}), { ...call('b', {}), thoughtSignature: OTHER_SIGNATURE }];
    const content = messagesContent([finish('STOP', calls)]);
    assert.deepEqual(modelParts(encodeOfMessages(nextOfMessages(content), SECOND)), ['a', 'b other']);
  });

  test('gives way to the stopgap when the client loses it', () => {
    const content = messagesContent(THOUGHT_AND_CALLS).filter(({ type }) => type === 'tool_use');
    assert.deepEqual(modelParts(encodeOfMessages(nextOfMessages(content))), ['weather stopgap', 'weather']);
  });
});

suite('the signature of a text', () => {
  const first = [finish('STOP', [{ text: 'So.', thoughtSignature: SIGNATURE }])];

  test('comes back onto it from a chat client', () => {
    assert.deepEqual(modelParts(encodeChat(nextOfChat(chatMessage(fold(first))))), ['"So." first']);
  });

  test('comes back onto it from a messages client', () => {
    assert.deepEqual(modelParts(encodeOfMessages(nextOfMessages(messagesContent(first)))), ['"So." first']);
  });

  test('is not written last to a stream of the messages format, whose last block is the text', () => {
    const content = messagesContent(GROUNDED);
    assert.deepEqual(
      content.map(({ type }) => type),
      ['text'],
    );
  });

  test('goes onto the text from a messages client when it came last and whole', () => {
    const whole = parseJsonObject(
      encodeMessagesResponse(foldEvents(decodeWhole(JSON.stringify(WHOLE_GROUNDED))), IDENTITY, {
        ...FINAL_USAGE,
        usage: NO_USAGE,
      }),
    );
    const content = objectsOf(whole?.['content']);
    assert.deepEqual(
      content.map(({ type }) => type),
      ['redacted_thinking', 'text'],
    );
    assert.ok(objectsOf(content[1]?.['citations']).length > 0, 'its sources stay on it');
    const parts = modelParts(encodeOfMessages(nextOfMessages(content)));
    assert.equal(parts.length, 1);
    assert.match(parts[0] ?? '', / other$/);
  });

  test('stays alone before a call, because the signature of a call bears its id', () => {
    const chunks = [finish('STOP', [{ text: 'So.' }, { text: '', thoughtSignature: OTHER_SIGNATURE }, call('a', {})])];
    const parts = modelParts(encodeOfMessages(nextOfMessages(messagesContent(chunks)), SECOND));
    assert.deepEqual(parts, ['"So."', '"" other', 'a']);
  });

  test('goes onto the text when it came last and a chat client sends it back without an order', () => {
    const parts = modelParts(encodeChat(nextOfChat(chatMessage(fold(GROUNDED)))));
    assert.equal(parts.length, 1);
    assert.match(parts[0] ?? '', / other$/);
  });
});

test('sends a signed image back signed', () => {
  const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' }, thoughtSignature: SIGNATURE };
  const response = foldEvents(decodeWhole(JSON.stringify(finish('STOP', [picture]))));
  const { contents } = encodeChat(nextOfChat(chatMessage(response)));
  assert.deepEqual(partsOf(contents[1]), [picture]);
});

test('sends a signed thought back as it was', () => {
  const thought = { text: 'Hm.', thought: true, thoughtSignature: SIGNATURE };
  const chunks = [finish('STOP', [thought, { text: 'So.' }])];
  const ofChat = encodeChat(nextOfChat(chatMessage(fold(chunks))));
  const ofMessages = encodeOfMessages(nextOfMessages(messagesContent(chunks)));
  for (const { contents, warnings } of [ofChat, ofMessages]) {
    assert.deepEqual(partsOf(contents[1]), [thought, { text: 'So.' }]);
    assert.deepEqual(warnings, []);
  }
});

suite('the stopgap', () => {
  const history = (...extra: readonly JsonObject[]): JsonObject => ({
    messages: [
      USER,
      {
        role: 'assistant',
        content: null,
        tool_calls: [pastCall('1', 'a', '{}'), pastCall('2', 'b', '{}')],
        ...extra[0],
      },
      { role: 'tool', tool_call_id: '1', content: 'ok' },
      { role: 'tool', tool_call_id: '2', content: 'ok' },
    ],
  });

  test('is for models that ask for signatures, and for the first call of a step alone', () => {
    assert.deepEqual(modelParts(encodeChat(history())), ['a stopgap', 'b']);
    assert.deepEqual(modelParts(encodeChat(history(), SECOND)), ['a', 'b']);
  });

  test('stands in for reasoning of other models, which is left out', () => {
    const foreign = { type: 'reasoning.encrypted', data: 'gAAAAA', format: 'openai-responses-v1', index: 0 };
    const next = encodeChat(history({ reasoning_details: [foreign] }));
    assert.deepEqual(modelParts(next), ['a stopgap', 'b']);
    assert.deepEqual(next.warnings, [
      'content-dropped messages[1].reasoning_details[0]',
      'field-changed messages[1].tool_calls[0]',
    ]);
  });

  test('stands in for what is no signature, which would spoil the whole request', () => {
    const bad = { type: 'reasoning.encrypted', data: 'not base64!', id: '1', format: 'google-gemini-v1', index: 0 };
    assert.deepEqual(modelParts(encodeChat(history({ reasoning_details: [bad] }))), ['a stopgap', 'b']);
  });

  test('is reported once, however many calls have lost theirs', () => {
    const { messages } = history();
    const twice = { messages: [...(Array.isArray(messages) ? messages : []), ...objectsOf(messages)] };
    assert.deepEqual(encodeChat(twice).warnings, ['field-changed messages[1].tool_calls[0]']);
  });
});

test('omits the signature of a call that is gone, with a warning', () => {
  const gone = { type: 'reasoning.encrypted', data: SIGNATURE, id: 'x', format: 'google-gemini-v1', index: 0 };
  const { parts, warnings } = encodeChat({
    messages: [USER, { role: 'assistant', content: 'So.', reasoning_details: [gone] }, USER],
  });
  assert.deepEqual(parts, [{ text: 'Hi' }, { text: 'So.' }, { text: 'Hi' }]);
  assert.deepEqual(warnings, ['content-dropped messages[1].reasoning_details[0]']);
});
