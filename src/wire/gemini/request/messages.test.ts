import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../../lib/json.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { decodeChat } from '../../../../tests/support/wire/chat/request.ts';
import { encodeRequest } from './request.ts';
import {
  encodeChat,
  encodeOfMessages,
  partsOf,
  pastCall,
  rolesOf,
  SECOND,
  targetOf,
  THIRD,
} from '../../../../tests/support/wire/gemini/request.ts';

const USER = { role: 'user', content: 'Hi' };

function asks(...calls: readonly JsonObject[]): JsonObject {
  return { role: 'assistant', content: null, tool_calls: calls };
}

function result(id: string, content: string): JsonObject {
  return { role: 'tool', tool_call_id: id, content };
}

/** Models that know nothing of signatures, so that none get in the way. */
const UNSIGNED = targetOf({ callIds: true, resultMedia: true });

test('refuses a conversation of which nothing is left, and adds no text of its own', () => {
  const requested = { messages: [{ role: 'user', content: '' }], response_format: { type: 'json_object' } };
  for (const target of [SECOND, THIRD]) assert.throws(() => encodeChat(requested, target), /contains nothing/);
});

suite('instructions', () => {
  test("are one text apart when they lead; later ones stand in the user's turn", () => {
    const { body, contents, warnings } = encodeChat({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: 'Be kind.' },
        USER,
        { role: 'assistant', content: 'Hello' },
        { role: 'system', content: 'Rhyme.' },
        { role: 'user', content: 'Go on' },
      ],
    });
    assert.deepEqual(body['systemInstruction'], { parts: [{ text: 'Be brief.\n\nBe kind.' }] });
    assert.deepEqual(contents, [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ text: 'Hello' }] },
      { role: 'user', parts: [{ text: 'Rhyme.' }, { text: 'Go on' }] },
    ]);
    assert.deepEqual(warnings, []);
  });

  test('alone are sent as the user, because the format wants a content', () => {
    const { body, warnings } = encodeChat({ messages: [{ role: 'system', content: 'Say hi.' }] });
    assert.deepEqual(body, { contents: [{ role: 'user', parts: [{ text: 'Say hi.' }] }] });
    assert.deepEqual(warnings, ['field-changed messages']);
  });

  test('become a user message for a model without system instructions, with the instruction for JSON', () => {
    const target = targetOf({ refusesSystem: true, refusesTools: true, refusesJson: true });
    const { body, warnings } = encodeChat(
      {
        messages: [{ role: 'system', content: 'Be brief.' }, USER],
        tools: [{ type: 'function', function: { name: 'f' } }],
        response_format: { type: 'json_object' },
      },
      target,
    );
    const [stated = ''] = (body['contents'] as { parts: { text: string }[] }[])[0]?.parts.map(({ text }) => text) ?? [];
    assert.match(stated, /^Be brief\.\n\nAnswer with one JSON object/);
    assert.deepEqual(Object.keys(body), ['contents']);
    assert.deepEqual(warnings, ['field-dropped tools', 'field-changed response_format', 'field-changed messages']);
  });

  test('lose the line that changes with every request', () => {
    const { body, warnings } = encodeOfMessages({
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=1' },
        { type: 'text', text: 'Be brief.' },
      ],
    });
    assert.deepEqual(body['systemInstruction'], { parts: [{ text: 'Be brief.' }] });
    assert.deepEqual(warnings, ['content-dropped system[0]']);
  });
});

suite('turns', () => {
  // @spec translate-3
  test('are one content when they have one role in a row, and empty texts are none', () => {
    const encoded = encodeChat({
      messages: [
        USER,
        { role: 'user', content: '' },
        { role: 'user', name: 'Ada', content: 'Me too' },
        { role: 'assistant', content: 'A' },
        { role: 'assistant', content: 'B' },
      ],
    });
    assert.deepEqual(rolesOf(encoded), ['user', 'model']);
    assert.deepEqual(encoded.parts, [{ text: 'Hi' }, { text: 'Ada: Me too' }, { text: 'A' }, { text: 'B' }]);
  });

  test('end with the beginning of a response when the assistant is last', () => {
    assert.deepEqual(rolesOf(encodeChat({ messages: [USER, { role: 'assistant', content: 'Once' }] })), [
      'user',
      'model',
    ]);
  });

  test('leave no empty content when nothing of them can be sent', () => {
    const encoded = encodeChat({
      messages: [
        USER,
        {
          role: 'assistant',
          content: '',
          reasoning_details: [{ type: 'reasoning.text', text: 'Hm', format: 'unknown' }],
        },
        { role: 'user', content: 'And?' },
      ],
    });
    assert.deepEqual(encoded.contents, [{ role: 'user', parts: [{ text: 'Hi' }, { text: 'And?' }] }]);
    assert.deepEqual(encoded.warnings, [
      'content-dropped messages[1].reasoning_details[0]',
      'content-dropped messages[1]',
    ]);
  });

  test('keep their bytes when the conversation goes on', () => {
    const messages = [
      USER,
      asks(pastCall('1', 'f', '{"a":1}')),
      result('1', 'ok'),
      { role: 'assistant', content: 'So.' },
    ];
    const before = JSON.stringify(encodeChat({ messages }).contents);
    const after = JSON.stringify(encodeChat({ messages: [...messages, USER] }).contents);
    assert.ok(after.startsWith(before.slice(0, -1)));
    assert.equal(before, JSON.stringify(encodeChat({ messages }).contents));
  });
});

suite('calls and results', () => {
  // @spec translate-11
  test('are paired by name, and by id where the model has ids', () => {
    const messages = [
      USER,
      asks(pastCall('a', 'f', '{"x":1.0}'), pastCall('b', 'g', '{}')),
      result('b', '{"ok":true}'),
      result('a', 'plain'),
    ];
    const [, model, user] = encodeChat({ messages }, UNSIGNED).contents;
    assert.deepEqual(partsOf(model), [
      { functionCall: { id: 'a', name: 'f', args: { x: 1 } } },
      { functionCall: { id: 'b', name: 'g', args: {} } },
    ]);
    assert.deepEqual(partsOf(user), [
      { functionResponse: { id: 'a', name: 'f', response: { result: 'plain' } } },
      { functionResponse: { id: 'b', name: 'g', response: { ok: true } } },
    ]);
    assert.doesNotMatch(JSON.stringify(encodeChat({ messages }, SECOND).body), /"id"/);
  });

  test('have the very numbers that were written', () => {
    const messages = [
      USER,
      asks(pastCall('a', 'f', '{"x":12345678901234567890}')),
      result('a', '{"y":98765432109876543210}'),
    ];
    const sent = JSON.stringify(encodeRequest(decodeChat({ model: 'acme/one', messages }), UNSIGNED).body);
    assert.match(sent, /"args":\{"x":12345678901234567890\}/);
    assert.match(sent, /"response":\{"y":98765432109876543210\}/);
  });

  test('keep arguments that are no object below a name of their own', () => {
    const messages = [USER, asks(pastCall('a', 'f', '[1')), result('a', '')];
    const [, model, user] = encodeChat({ messages }, UNSIGNED).contents;
    assert.deepEqual(partsOf(model), [{ functionCall: { id: 'a', name: 'f', args: { _raw: '[1' } } }]);
    assert.deepEqual(partsOf(user), [{ functionResponse: { id: 'a', name: 'f', response: { result: '' } } }]);
  });

  test('marks a failed result', () => {
    const { parts } = encodeOfMessages(
      {
        messages: [
          USER,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '{"x":1}', is_error: true }] },
        ],
      },
      UNSIGNED,
    );
    assert.deepEqual(parts.at(-1), { functionResponse: { id: 'a', name: 'f', response: { error: '{"x":1}' } } });
  });

  test('adds an error to a call without a result, also at the end', () => {
    const encoded = encodeChat({ messages: [USER, asks(pastCall('a', 'f', '{}'))] }, UNSIGNED);
    assert.deepEqual(rolesOf(encoded), ['user', 'model', 'user']);
    assert.match(JSON.stringify(encoded.parts.at(-1)), /"error":"No result/);
    assert.deepEqual(encoded.warnings, ['field-changed messages[1].tool_calls[0]']);
  });

  test('moves a late result to its call, and takes the last of several', () => {
    const encoded = encodeChat(
      {
        messages: [
          USER,
          asks(pastCall('a', 'f', '{}')),
          USER,
          { role: 'assistant', content: 'Hm' },
          result('a', '1'),
          result('a', '2'),
        ],
      },
      UNSIGNED,
    );
    assert.deepEqual(rolesOf(encoded), ['user', 'model', 'user', 'model']);
    assert.deepEqual(partsOf(encoded.contents[2]), [
      { functionResponse: { id: 'a', name: 'f', response: { result: '2' } } },
      { text: 'Hi' },
    ]);
    assert.deepEqual(encoded.warnings, [
      'field-changed messages[4]',
      'field-changed messages[5]',
      'content-dropped messages[4]',
    ]);
  });

  test('calls that share an id get a result each, and ids of their own', () => {
    const twice = asks(pastCall('a', 'f', '{}'), pastCall('a', 'f', '{}'));
    const { parts } = encodeChat({ messages: [USER, twice, result('a', '1'), result('a', '2')] }, UNSIGNED);
    assert.deepEqual(parts.slice(-2), [
      { functionResponse: { id: 'a', name: 'f', response: { result: '1' } } },
      { functionResponse: { id: 'a_2', name: 'f', response: { result: '2' } } },
    ]);
  });

  test('refuses a result without a call, at its path', () => {
    assert.throws(
      () => encodeChat({ messages: [USER, result('zz', '1')] }),
      (error) =>
        error instanceof GatewayError && error.status === 400 && error.issues?.[0]?.path === 'messages[1].tool_call_id',
    );
  });
});

suite('files', () => {
  const pixel = 'data:image/png;base64,iVBORw0KGgo=';
  const picture = { type: 'image_url', image_url: { url: pixel } };

  test('go inside when they are bytes', () => {
    const content = [
      { type: 'text', text: 'Look' },
      picture,
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'mp3' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
    ];
    const { parts, warnings } = encodeChat({ messages: [{ role: 'user', content }] });
    assert.deepEqual(parts, [
      { text: 'Look' },
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
      { inlineData: { mimeType: 'audio/mp3', data: 'UklGRg==' } },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
    ]);
    assert.deepEqual(warnings, ['field-dropped messages[0].content[3].file.filename']);
  });

  test('go by their address when the vendor can open it', () => {
    const addresses = [
      'gs://bucket/a.mp4',
      'https://generativelanguage.googleapis.com/v1beta/files/abc',
      'https://www.youtube.com/watch?v=9hE5-98ZeCg',
    ];
    const content = addresses.map((url) => ({ type: 'video_url', video_url: { url } }));
    const { parts } = encodeChat({ messages: [{ role: 'user', content }] });
    assert.deepEqual(parts, [
      { fileData: { mimeType: 'video/mp4', fileUri: addresses[0] } },
      { fileData: { mimeType: 'video/mp4', fileUri: addresses[1] } },
      { fileData: { fileUri: addresses[2] } },
    ]);
  });

  test('are refused at YouTube where the host cannot watch them, as are those stored elsewhere', () => {
    const content: JsonObject[] = [
      { type: 'text', text: 'Look' },
      { type: 'video_url', video_url: { url: 'https://youtu.be/9hE5-98ZeCg' } },
    ];
    const ask = (): unknown => encodeChat({ messages: [{ role: 'user', content }] }, SECOND);
    assert.throws(ask, /: messages\[0\]\.content\[1\]: is a video at YouTube, which/);
    content[1] = { type: 'file', file: { file_id: 'file-abc' } };
    assert.throws(ask, /: messages\[0\]\.content\[1\]: is a stored file, which/);
  });

  test('become text when they are text, because the vendor has no part for them', () => {
    const data = Buffer.from('{"a": "ü"}').toString('base64');
    const content = [{ type: 'file', file: { filename: 'a.json', file_data: `data:application/json;base64,${data}` } }];
    const { parts } = encodeChat({ messages: [{ role: 'user', content }] });
    assert.match(JSON.stringify(parts), /^\[\{"text":".*a\.json.*\{\\"a\\": \\"ü\\"\}/);
  });

  test('stand inside their result where the model takes them there, and otherwise behind it', () => {
    const messages = [
      USER,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'shoot', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }],
          },
          { type: 'text', text: 'Well?' },
        ],
      },
    ];
    const response = { result: 'The result is in the files that come with it.' };
    const inlineData = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };
    assert.deepEqual(partsOf(encodeOfMessages({ messages }, UNSIGNED).contents[2]), [
      { functionResponse: { id: 'a', name: 'shoot', response, parts: [{ inlineData }] } },
      { text: 'Well?' },
    ]);
    assert.deepEqual(partsOf(encodeOfMessages({ messages }, SECOND).contents[2]), [
      { functionResponse: { name: 'shoot', response } },
      { text: 'Files of the result of shoot:' },
      { inlineData },
      { text: 'Well?' },
    ]);
  });

  test("go back as the model's own when they are of earlier responses", () => {
    const { contents } = encodeChat({
      messages: [USER, { role: 'assistant', content: 'Here:', images: [{ ...picture, index: 0 }] }, USER],
    });
    assert.deepEqual(partsOf(contents[1]), [
      { text: 'Here:' },
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
    ]);
  });
});

test('omits provider-native tools and the thoughts of other models, with a warning', () => {
  const { parts, warnings } = encodeOfMessages(
    {
      messages: [
        USER,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'EqQBCg==' },
            { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
            { type: 'text', text: 'So.' },
          ],
        },
        USER,
      ],
    },
    THIRD,
  );
  assert.deepEqual(parts, [{ text: 'Hi' }, { text: 'So.' }, { text: 'Hi' }]);
  assert.deepEqual(warnings, ['content-dropped messages[1].content[0]', 'content-dropped messages[1].content[1]']);
});

test('sources and closeness of looking cannot be said, and are noted', () => {
  const annotation = {
    type: 'url_citation',
    url_citation: { url: 'https://a.example/', start_index: 0, end_index: 3 },
  };
  const { parts, warnings } = encodeChat({
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } }],
      },
      { role: 'assistant', content: 'So.', annotations: [annotation] },
    ],
  });
  assert.deepEqual(parts, [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }, { text: 'So.' }]);
  assert.deepEqual(warnings, [
    'field-dropped messages[0].content[0].detail',
    'content-dropped messages[1].annotations',
  ]);
});

test('sends a refusal as text of the model', () => {
  const { parts } = encodeChat({ messages: [USER, { role: 'assistant', content: null, refusal: 'No.' }, USER] });
  assert.deepEqual(parts, [{ text: 'Hi' }, { text: 'No.' }, { text: 'Hi' }]);
});
