import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../../canonical/fold.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { Block } from '../../../canonical/blocks.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { encodeWhole as encodeChatResponse } from '../../chat/response/response-out.ts';
import { objectOf, objectsOf } from '../../json-fields.ts';
import { FINAL_USAGE, IDENTITY } from '../../../../tests/support/wire/chat/streams.ts';
import { encodeWhole as encodeMessagesResponse } from '../../messages/response/response-out.ts';
import { MessagesStreamEncoder } from '../../messages/response/stream-out.ts';
import { chatRequest, user } from '../../../../tests/support/wire/messages/request.ts';
import { checkStream, foldContent } from '../../../../tests/support/wire/messages/stream-checker.ts';
import { decodeWhole } from '../response/response-in.ts';
import { encodeRequest } from './request-out.ts';
import {
  called,
  encodeChat,
  encodeOfMessages,
  PLAIN,
  REASONER,
  upstream,
} from '../../../../tests/support/wire/responses/request.ts';
import { call, message, outputText, response, summaries } from '../../../../tests/support/wire/responses/streams.ts';

const HI = { role: 'user', content: 'Hi' };
const PNG = 'data:image/png;base64,iVBORw0KGgo=';

/** The items of a chat conversation. */
function inputOf(messages: readonly JsonObject[], target = PLAIN) {
  const { input, warnings } = encodeChat({ messages }, target);
  return { input, warnings };
}

suite('messages', () => {
  test('instructions stand where they stood, developers’ own where the host knows them', () => {
    const messages = [{ role: 'system', content: 'Be brief.' }, { role: 'developer', content: 'In rhyme.' }, HI];
    const roles = (target = PLAIN): readonly unknown[] => inputOf(messages, target).input.map(({ role }) => role);
    assert.deepEqual(roles(), ['system', 'system', 'user']);
    assert.deepEqual(roles(REASONER), ['system', 'developer', 'user']);
  });

  test('puts the instructions of a messages caller first', () => {
    const { input } = encodeOfMessages({ system: 'Be brief.' });
    assert.deepEqual(input[0], { type: 'message', role: 'system', content: 'Be brief.' });
  });

  test('several texts are parts, one is a string', () => {
    const parts = [
      { type: 'text', text: 'One' },
      { type: 'text', text: 'Two' },
    ];
    const { input } = inputOf([{ role: 'user', content: parts }, { role: 'assistant', content: 'Yes.' }, HI]);
    assert.deepEqual(input, [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'One' },
          { type: 'input_text', text: 'Two' },
        ],
      },
      { type: 'message', role: 'assistant', content: 'Yes.' },
      { type: 'message', role: 'user', content: 'Hi' },
    ]);
  });

  test('sends a refusal of an earlier turn as a refusal', () => {
    const { input } = inputOf([HI, { role: 'assistant', content: null, refusal: 'No.' }, HI]);
    assert.deepEqual(input[1], { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] });
  });

  test('names of participants stand in the text', () => {
    const { input } = inputOf([{ ...HI, name: 'Ann' }]);
    assert.equal(input[0]?.['content'], 'Ann: Hi');
  });

  test('refuses a conversation that ends with the assistant, which the upstream cannot continue', () => {
    const messages = [HI, { role: 'assistant', content: 'Once upon' }];
    assert.throws(
      () => inputOf(messages),
      (error) => error instanceof GatewayError && error.status === 400 && error.issues?.[0]?.path === 'messages[1]',
    );
  });

  test('refuses a picture in instructions under its path, because the model would not see it', () => {
    const request = chatRequest([
      {
        role: 'system',
        blocks: [
          { type: 'text', text: 'Like this:' },
          { type: 'media', media: 'image', source: { type: 'url', url: PNG } },
        ],
      },
      user('Hi'),
    ]);
    assert.throws(
      () => encodeRequest(request, PLAIN),
      (error) => error instanceof GatewayError && error.issues?.[0]?.path === 'messages[0].content[1]',
    );
  });

  test('breakpoints stand on parts, where the host knows them, and are a warning elsewhere', () => {
    const content = [{ type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } }];
    const { input, warnings } = inputOf([{ role: 'user', content }], REASONER);
    assert.deepEqual(input[0]?.['content'], [
      { type: 'input_text', text: 'Long.', prompt_cache_breakpoint: { mode: 'explicit' } },
    ]);
    assert.deepEqual(warnings, []);
    assert.deepEqual(inputOf([{ role: 'user', content }]).warnings, [
      'field-dropped messages[0].content[0].cache_control',
    ]);
  });
});

suite('media', () => {
  const partOf = (part: JsonObject, target = PLAIN) => {
    const { input, warnings } = inputOf([{ role: 'user', content: [{ type: 'text', text: 'See' }, part] }], target);
    return [objectsOf(input[0]?.['content'])[1], warnings];
  };

  test('sends an image by address or as data, with the detail that the model has', () => {
    const image = { type: 'image_url', image_url: { url: PNG, detail: 'original' } };
    assert.deepEqual(partOf(image), [{ type: 'input_image', image_url: PNG, detail: 'high' }, []]);
    const able = upstream({ originalDetail: true });
    assert.deepEqual(partOf(image, able), [{ type: 'input_image', image_url: PNG, detail: 'original' }, []]);
  });

  test('sends a file as data with a name, by address, or by its id in the vendor’s store', () => {
    const data = 'data:application/pdf;base64,JVBERi0=';
    assert.deepEqual(partOf({ type: 'file', file: { filename: 'a.pdf', file_data: data } }), [
      { type: 'input_file', filename: 'a.pdf', file_data: data },
      [],
    ]);
    assert.deepEqual(partOf({ type: 'file', file: { file_data: data } }), [
      { type: 'input_file', filename: 'document.pdf', file_data: data },
      [],
    ]);
    const address = { file_data: 'https://a.test/b.pdf', filename: 'b.pdf' };
    assert.deepEqual(partOf({ type: 'file', file: address }), [
      { type: 'input_file', file_url: 'https://a.test/b.pdf' },
      ['field-dropped messages[0].content[1].filename'],
    ]);
    assert.deepEqual(partOf({ type: 'file', file: { file_id: 'file-1' } }), [
      { type: 'input_file', file_id: 'file-1' },
      [],
    ]);
  });

  test('refuses files for a host that takes no files, or no data', () => {
    const data = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } };
    for (const documentInputs of ['none', 'links'] as const)
      assert.throws(
        () => partOf(data, upstream({ documentInputs })),
        /: messages\[0\]\.content\[1\]: is a document, which/,
      );
  });

  test('sound is the same part as in chat, a film is refused', () => {
    const sound = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
    assert.deepEqual(partOf(sound), [sound, []]);
    const film = { type: 'video_url', video_url: { url: 'https://a.test/b.mp4' } };
    assert.throws(() => partOf(film), /: messages\[0\]\.content\[1\]: is a video, which/);
  });

  test('writes a document of text out', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'The sea.' };
    const { input } = encodeOfMessages({
      messages: [{ role: 'user', content: [{ type: 'document', title: 'Tides', source }] }],
    });
    assert.equal(input[0]?.['content'], '<document title="Tides">\nThe sea.\n</document>');
  });
});

suite('calls and results', () => {
  const requested = {
    role: 'assistant',
    content: 'Looking.',
    tool_calls: [called('a', 'look'), called('b', 'ask', '{"x": 1.0}')],
  };
  const result = (id: string, content: unknown): JsonObject => ({
    role: 'tool',
    tool_call_id: id,
    content: content as string,
  });

  test('are items of their own, arguments byte for byte, results in the order of the calls', () => {
    const { input, warnings } = inputOf([HI, requested, result('b', 'Two'), result('a', 'One'), HI]);
    assert.deepEqual(input.slice(1), [
      { type: 'message', role: 'assistant', content: 'Looking.' },
      { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
      { type: 'function_call', call_id: 'b', name: 'ask', arguments: '{"x": 1.0}' },
      { type: 'function_call_output', call_id: 'a', output: 'One' },
      { type: 'function_call_output', call_id: 'b', output: 'Two' },
      { type: 'message', role: 'user', content: 'Hi' },
    ]);
    assert.deepEqual(warnings, []);
  });

  test('adds an error to a call without a result, also at the end', () => {
    const { input, warnings } = inputOf([HI, requested, result('b', 'Two')]);
    assert.deepEqual(input[4], {
      type: 'function_call_output',
      call_id: 'a',
      output: 'Error: this call was not answered',
    });
    assert.equal(warnings.length, 1);
    const { input: ended } = inputOf([HI, { role: 'assistant', content: null, tool_calls: [called('a', 'look')] }]);
    assert.equal(ended.at(-1)?.['type'], 'function_call_output');
  });

  test('takes the last of two results, moves a late one, and refuses one without a call', () => {
    const { input, warnings } = inputOf([
      HI,
      requested,
      result('a', 'Old'),
      result('a', 'New'),
      HI,
      { role: 'assistant', content: 'Well.' },
      result('b', 'Two'),
    ]);
    assert.deepEqual(
      input.slice(4, 6).map(({ output }) => output),
      ['New', 'Two'],
    );
    assert.deepEqual(warnings, ['field-changed messages[6]', 'content-dropped messages[2]']);
    assert.throws(() => inputOf([HI, requested, result('x', 'Lost')]), /messages\[2\]\.tool_call_id/);
  });

  test('ids that the format refuses are mapped, alike in call and result, and two calls never share one', () => {
    const long = 'x'.repeat(80);
    const twice = [called(long, 'look'), called('a', 'one'), called('a', 'two')];
    const { input } = inputOf([
      HI,
      { role: 'assistant', content: null, tool_calls: twice },
      result(long, '0'),
      result('a', '1'),
      result('a', '2'),
    ]);
    const calls = input.filter(({ type }) => type === 'function_call').map((item) => item['call_id']);
    const results = input.filter(({ type }) => type === 'function_call_output');
    assert.equal(new Set(calls).size, 3);
    assert.deepEqual(
      results.map((item) => [item['call_id'], item['output']]),
      calls.map((id, at) => [id, `${at}`]),
    );
    assert.ok(calls.every((id) => typeof id === 'string' && id.length > 0 && id.length <= 64));
  });

  const picture = [
    { type: 'text', text: 'A map:' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
  ];
  const withPicture = {
    messages: [
      HI,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'map', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: picture, is_error: true },
          { type: 'text', text: 'Well?' },
        ],
      },
    ],
  };

  test('sends a result as a list of parts, images among them, where the host takes one', () => {
    const { input, warnings } = encodeOfMessages(withPicture, REASONER);
    assert.deepEqual(input.slice(2), [
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: 'Error: A map:' },
          { type: 'input_image', image_url: PNG },
        ],
      },
      { type: 'message', role: 'user', content: 'Well?' },
    ]);
    assert.deepEqual(warnings, []);
  });

  test('sends pictures elsewhere in a message that follows and says whose they are', () => {
    const { input } = encodeOfMessages(withPicture);
    assert.deepEqual(input.slice(2), [
      { type: 'function_call_output', call_id: 'a', output: 'Error: A map:' },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Files of the result of map (a):' },
          { type: 'input_image', image_url: PNG },
        ],
      },
      { type: 'message', role: 'user', content: 'Well?' },
    ]);
  });

  test('puts the calls of a turn last for a host that demands it', () => {
    const content = [
      { type: 'tool_use', id: 'a', name: 'look', input: {} },
      { type: 'text', text: 'Meanwhile.' },
    ];
    const results = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'Seen' }] };
    const messages = [HI, { role: 'assistant', content }, results];
    const types = (target = PLAIN): readonly unknown[] =>
      encodeOfMessages({ messages }, target).input.map(({ type }) => type);
    assert.deepEqual(types(), ['message', 'function_call', 'message', 'function_call_output']);
    assert.deepEqual(types(upstream({ callsLast: true })), [
      'message',
      'message',
      'function_call',
      'function_call_output',
    ]);
  });

  test('encodes a conversation to a prefix of the longer one', () => {
    const long = [HI, requested, result('a', 'One'), result('b', 'Two'), { role: 'assistant', content: 'So.' }, HI];
    const [before, after] = [4, 6].map((end) => JSON.stringify(inputOf(long.slice(0, end)).input).slice(0, -1));
    assert.ok(before !== undefined && after?.startsWith(before));
  });
});

suite('what a response said comes back', () => {
  const OUTPUT = [
    summaries('rs_1', ['One.', 'Two.'], 'gAAAA'),
    message('msg_1', outputText('Looking.')),
    call('call_1', 'look', '{"at": 1.0}'),
  ];
  const events = decodeWhole(JSON.stringify(response(OUTPUT)));
  const answer = foldEvents(events);
  const SENT_REASONING = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [
      { type: 'summary_text', text: 'One.' },
      { type: 'summary_text', text: 'Two.' },
    ],
    encrypted_content: 'gAAAA',
  };
  const SENT_CALL = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at": 1.0}' };

  // @spec reasoning-22
  test('keeps reasoning through a chat caller exactly, before what came of it', () => {
    const encoded = parseJsonObject(encodeChatResponse(answer, IDENTITY, FINAL_USAGE));
    const stated = objectOf(objectsOf(encoded?.['choices'])[0]?.['message']) ?? {};
    const { input, warnings } = inputOf(
      [HI, stated, { role: 'tool', tool_call_id: 'call_1', content: 'Seen' }],
      REASONER,
    );
    assert.deepEqual(input.slice(1), [
      SENT_REASONING,
      { type: 'message', role: 'assistant', content: 'Looking.' },
      SENT_CALL,
      { type: 'function_call_output', call_id: 'call_1', output: 'Seen' },
    ]);
    assert.deepEqual(warnings, []);
  });

  const encoder = new MessagesStreamEncoder(IDENTITY);
  const frames = encoder.encode(events) + encoder.close(FINAL_USAGE);
  for (const [how, content] of [
    ['whole', objectsOf(parseJsonObject(encodeMessagesResponse(answer, IDENTITY, FINAL_USAGE))?.['content'])],
    ['streamed', foldContent(checkStream(frames))],
  ] as const)
    test(`keeps the same through a messages caller, ${how}, down to the id of the reasoning`, () => {
      const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'Seen' };
      const messages = [HI, { role: 'assistant', content }, { role: 'user', content: [result] }];
      const { input, warnings } = encodeOfMessages({ messages }, REASONER);
      assert.deepEqual(input.slice(1), [
        SENT_REASONING,
        { type: 'message', role: 'assistant', content: 'Looking.' },
        // Clients of that format parse the input of a call.
        { ...SENT_CALL, arguments: '{"at":1}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'Seen' },
      ]);
      assert.deepEqual(warnings, []);
    });

  test('keeps reasoning from another vendor, and says so', () => {
    const encoded = parseJsonObject(encodeChatResponse(answer, IDENTITY, FINAL_USAGE));
    const stated = objectOf(objectsOf(encoded?.['choices'])[0]?.['message']) ?? {};
    const target = upstream({ reasoningFamily: 'xai-responses-v1' });
    const { input, warnings } = inputOf(
      [HI, stated, { role: 'tool', tool_call_id: 'call_1', content: 'Seen' }],
      target,
    );
    assert.ok(input.every(({ type }) => type !== 'reasoning'));
    assert.equal(warnings.filter((warning) => warning.startsWith('content-dropped')).length, 3);
  });

  const sealed: Block = {
    type: 'reasoning',
    form: 'encrypted',
    text: 'gAAAA',
    family: 'openai-responses-v1',
    id: 'rs_1',
  };
  const text: Block = { type: 'text', text: 'So.' };
  const inputOfTurn = (blocks: readonly Block[], target = REASONER) => {
    const request = chatRequest([user('Hi'), { role: 'assistant', blocks }, user('Go on')]);
    const { body, warnings } = encodeRequest(request, target);
    return { items: objectsOf(body['input']).slice(1, -1), warnings: warnings.map(({ code }) => code) };
  };

  test('reasoning that nothing came of is not sent: the vendor refuses it', () => {
    const { items, warnings } = inputOfTurn([text, sealed]);
    assert.deepEqual(items, [{ type: 'message', role: 'assistant', content: 'So.' }]);
    assert.deepEqual(warnings, ['content-dropped']);
  });

  test('reasoning that is not sealed goes to hosts that read it, and to no other', () => {
    const thought: Block = { type: 'reasoning', form: 'text', text: 'Hm.', family: 'openai-responses-v1', id: 'rs_2' };
    assert.deepEqual(inputOfTurn([thought, text]).warnings, ['content-dropped']);
    const reader = upstream({ reasoningText: true });
    assert.deepEqual(inputOfTurn([thought, text], reader).items[0], {
      type: 'reasoning',
      id: 'rs_2',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm.' }],
    });
    const foreign: Block = { type: 'reasoning', form: 'text', text: 'Hm.', family: 'unknown' };
    assert.deepEqual(inputOfTurn([foreign, text], reader).items[0], {
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm.' }],
    });
  });

  test('keeps two items of reasoning apart', () => {
    const other: Block = { ...sealed, id: 'rs_2', text: 'gBBBB' };
    const { items } = inputOfTurn([sealed, text, other, { ...text, text: 'Then.' }]);
    assert.deepEqual(
      items.map(({ type, id, content }) => id ?? content ?? type),
      ['rs_1', 'So.', 'rs_2', 'Then.'],
    );
    const unnamed = [sealed, other].map(({ id: _id, ...block }): Block => ({ ...block, type: 'reasoning' }));
    assert.equal(inputOfTurn([...unnamed, text]).items.length, 3);
  });

  test('sends a provider-native tool back as the very item, and omits it without that', () => {
    const item = { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search', query: 'x' } };
    const [ran] = foldEvents(decodeWhole(JSON.stringify(response([item])))).blocks;
    assert.ok(ran?.type === 'tool-call');
    assert.deepEqual(inputOfTurn([ran, text]).items[0], item);
    const { extra: _extra, ...bare } = ran;
    const { items, warnings } = inputOfTurn([bare, text]);
    assert.equal(items.length, 1);
    assert.deepEqual(warnings, ['content-dropped']);
  });

  test('sends the phase of a message back to models that have phases', () => {
    const phased: Block = { ...text, extra: { format: 'responses', fields: { phase: 'commentary' } } };
    assert.equal(inputOfTurn([phased]).items[0]?.['phase'], 'commentary');
    assert.equal(inputOfTurn([phased], PLAIN).items[0]?.['phase'], undefined);
  });
});
