import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../canonical/fold.ts';
import { parseJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { Dialect, EncodedRequest, EncodeTarget } from '../format.ts';
import { decode as decodeMessages } from '../../../tests/support/wire/messages/request.ts';
import { decodeWhole } from './response/response-in.ts';
import { encodeRequest } from './request/request-out.ts';
import { encodeWhole } from './response/response-out.ts';
import { chatUpstreamFormat } from './format.ts';
import { objectOf, objectsOf } from '../json-fields.ts';
import { decodeChat, PLAIN_TARGET } from '../../../tests/support/wire/chat/request.ts';
import { FINAL_USAGE, IDENTITY } from '../../../tests/support/wire/chat/streams.ts';

const USER: Json = { role: 'user', content: 'hi' };

function encode(messages: readonly Json[], dialect: Dialect = {}, members: Record<string, Json> = {}): EncodedRequest {
  const target: EncodeTarget = { ...PLAIN_TARGET, dialect };
  return encodeRequest(decodeChat({ messages: [...messages], ...members }), target);
}

function sent(messages: readonly Json[], dialect: Dialect = {}): readonly JsonObject[] {
  return objectsOf(encode(messages, dialect).body['messages']);
}

const warned = (encoded: EncodedRequest): readonly string[] => encoded.warnings.map(({ path }) => path);
const text = (words: string): Json => ({ type: 'text', text: words });
const image: Json = { type: 'image_url', image_url: { url: 'https://a.example/x.png' } };
const address: Json = { type: 'file', file: { file_data: 'https://a.example/x.pdf', filename: 'x.pdf' } };
const bytes: Json = { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'x.pdf' } };

suite('an upstream that takes texts as strings only', () => {
  const plain: Dialect = { textParts: false };

  test('joins texts in parts, whatever the role', () => {
    const parts = [text('one'), text(''), text('two')];
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const messages = [
      { role: 'system', content: parts },
      { role: 'user', content: parts },
      { role: 'assistant', content: parts, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: parts },
    ];
    assert.deepEqual(
      sent(messages, plain).map(({ content }) => content),
      ['one\n\ntwo', 'one\n\ntwo', 'one\n\ntwo', 'one\n\ntwo'],
    );
    assert.deepEqual(sent(messages)[0]?.['content'], [text('one'), text('two')]);
  });

  test('makes parts for an image of the user all the same, and puts one of a result behind it', () => {
    const encoded = encode(
      [
        { role: 'user', content: [text('look'), image] },
        { role: 'assistant', content: 'what?' },
        { role: 'tool', tool_call_id: 'c', content: [text('this'), image] },
      ],
      plain,
    );
    const [user, , tool, behind] = objectsOf(encoded.body['messages']);
    assert.deepEqual(user?.['content'], [text('look'), image]);
    assert.equal(tool?.['content'], 'this');
    assert.deepEqual(behind, { role: 'user', content: [text('Files of the result of a call (c):'), image] });
    assert.deepEqual(warned(encoded), ['messages[2].content']);
  });
});

suite('an upstream that keeps its reasoning in the content', () => {
  const mistral: Dialect = { reasoningMember: 'content' };
  const thinking = (words: string): Json => ({ type: 'thinking', thinking: [{ type: 'text', text: words }] });

  test('reasoning goes back as the part that it came in, before the text', () => {
    const turn = { role: 'assistant', content: 'ten', reasoning: 'five and five' };
    const [, assistant] = sent([USER, turn, USER], mistral);
    assert.deepEqual(assistant, { role: 'assistant', content: [thinking('five and five'), text('ten')] });
  });

  test('sends the reasoning alone as the content of a call without text', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const turn = { role: 'assistant', content: null, reasoning_content: 'I must ask', tool_calls: [call] };
    const [, assistant] = sent([USER, turn], mistral);
    assert.deepEqual(assistant?.['content'], [thinking('I must ask')]);
    assert.deepEqual(assistant?.['tool_calls'], [call]);
  });

  test('sends its response back as it was, from what a caller keeps of it', () => {
    const response = {
      id: 'x',
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: [thinking('five and five'), text('ten')] },
        },
      ],
    };
    const encoded = parseJsonObject(
      encodeWhole(foldEvents(decodeWhole(JSON.stringify(response))), IDENTITY, FINAL_USAGE),
    );
    const kept = objectOf(objectsOf(encoded?.['choices'])[0]?.['message']);
    assert.equal(kept?.['content'], 'ten');
    const [, assistant] = sent([USER, kept ?? null, USER], mistral);
    assert.deepEqual(assistant?.['content'], [thinking('five and five'), text('ten')]);
  });

  test('omits reasoning that another vendor signed, with a warning', () => {
    const detail = { type: 'reasoning.text', text: 'hm', signature: 'c2ln', format: 'anthropic-claude-v1' };
    const encoded = encode([USER, { role: 'assistant', content: 'ten', reasoning_details: [detail] }], mistral);
    assert.equal(objectsOf(encoded.body['messages'])[1]?.['content'], 'ten');
    assert.deepEqual(warned(encoded), ['messages[1].reasoning_details']);
  });

  test('thinking that a messages caller sends back without a signature is plain reasoning', () => {
    const request = decodeMessages({
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'five and five', signature: '' },
            { type: 'text', text: 'ten' },
          ],
        },
        { role: 'user', content: 'and?' },
      ],
    });
    for (const [dialect, expected] of [
      [mistral, { content: [thinking('five and five'), text('ten')] }],
      [{ reasoningMember: 'reasoning_content' }, { content: 'ten', reasoning_content: 'five and five' }],
    ] as const) {
      const { body } = encodeRequest(request, { ...PLAIN_TARGET, dialect });
      assert.deepEqual(objectsOf(body['messages'])[1], { role: 'assistant', ...expected });
    }
  });
});

suite('documents', () => {
  test('sends an address only to hosts that take it, and refuses it elsewhere', () => {
    const message = { role: 'user', content: [text('read'), address] };
    assert.deepEqual(sent([message], { documentUrls: true })[0]?.['content'], [text('read'), address]);
    assert.throws(() => encode([message]), /: messages\[0\]\.content\[1\]: is a document at an address, which/);
  });

  test('the same for a caller of the messages format', () => {
    const source = { type: 'url', url: 'https://a.example/x.pdf' };
    const content = [
      { type: 'text', text: 'read' },
      { type: 'document', source, title: 'x.pdf' },
    ];
    const request = decodeMessages({ max_tokens: 9, messages: [{ role: 'user', content }] });
    const kept = encodeRequest(request, { ...PLAIN_TARGET, dialect: { documentUrls: true } });
    assert.deepEqual(objectsOf(kept.body['messages'])[0]?.['content'], [text('read'), address]);
    assert.throws(
      () => encodeRequest(request, PLAIN_TARGET),
      /: messages\[0\]\.content\[1\]: is a document at an address/,
    );
  });

  test('fetches documents at an address first, but neither images nor files with bytes', () => {
    const fetched = (url: string, media: 'document' | 'image', dialect: Dialect = {}): boolean | undefined =>
      chatUpstreamFormat.mustInlineUrl?.(url, media, dialect);
    assert.equal(fetched('https://a.example/x.pdf', 'document'), true);
    assert.equal(fetched('https://a.example/x.pdf', 'document', { documentUrls: true }), false);
    assert.equal(fetched('data:text/plain;charset=utf-8,abc', 'document'), false);
    assert.equal(fetched('https://a.example/x.png', 'image'), false);
  });

  test('bytes go everywhere, in the part that the upstream has for them', () => {
    const message = { role: 'user', content: [bytes] };
    assert.deepEqual(sent([message])[0]?.['content'], [bytes]);
    const dialect: Dialect = { documentPart: 'document_url', documentUrls: true };
    assert.deepEqual(sent([message], dialect)[0]?.['content'], [
      { type: 'document_url', document_url: 'data:application/pdf;base64,JVBE', document_name: 'x.pdf' },
    ]);
    assert.deepEqual(sent([{ role: 'user', content: [address] }], dialect)[0]?.['content'], [
      { type: 'document_url', document_url: 'https://a.example/x.pdf', document_name: 'x.pdf' },
    ]);
  });
});

suite('parameters that a model refuses', () => {
  const dialect: Dialect = {
    refused: new Set(['stop', 'logit_bias']),
    refusedWhileReasoning: new Set(['temperature', 'top_p']),
  };
  const userTexts = { temperature: 0.5, top_p: 0.9, stop: 'END', logit_bias: { 1: 2 }, seed: 3 };
  const requested = (more: Record<string, Json>, facts: Dialect = {}): EncodedRequest =>
    encode([USER], { ...dialect, ...facts }, { ...userTexts, ...more });

  test('always omits some, whatever the endpoint lists, each with a warning', () => {
    const request = decodeChat({ messages: [USER], ...userTexts });
    const listed = new Set(['stop', 'logit_bias', 'seed']);
    const encoded = encodeRequest(request, { ...PLAIN_TARGET, dialect, supportedParameters: listed });
    assert.deepEqual(warned(encoded), ['logit_bias', 'stop']);
    assert.deepEqual([encoded.body['seed'], encoded.body['temperature']], [3, 0.5]);
  });

  test('omits some only while it reasons, by effort or by default', () => {
    const both = ['temperature', 'top_p', 'logit_bias', 'stop'];
    const always = ['logit_bias', 'stop'];
    assert.deepEqual(warned(requested({})), always);
    assert.deepEqual(warned(requested({ reasoning_effort: 'low' })), both);
    assert.deepEqual(warned(requested({}, { reasonsByDefault: true })), both);
    assert.deepEqual(warned(requested({ reasoning_effort: 'none' }, { reasonsByDefault: true })), always);
  });
});

suite('refusals among the content of an assistant', () => {
  const part: Json = { type: 'refusal', refusal: 'I will not' };
  const conversation: readonly Json[] = [USER, { role: 'assistant', content: [text('well'), part] }, USER];

  test('are accepted and go on as they came', () => {
    assert.deepEqual(sent(conversation)[1], { role: 'assistant', content: [text('well'), part] });
  });

  test('stay where they were beside one in its own member', () => {
    const both = { role: 'assistant', content: [part], refusal: 'Nor this' };
    assert.deepEqual(sent([USER, both])[1], both);
  });

  test('become text where only text is taken', () => {
    assert.equal(sent(conversation, { textParts: false })[1]?.['content'], 'well\n\nI will not');
  });

  // @spec chat-10
  test('takes refusals from an assistant only', () => {
    for (const role of ['user', 'system', 'tool'])
      assert.throws(
        () => decodeChat({ messages: [{ role, content: [part], tool_call_id: 'c' }] }),
        /messages\[0\]\.content\[0\]\.type/,
      );
  });
});
