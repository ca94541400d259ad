import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { GenerationRequest, Turn } from '../../../canonical/request.ts';
import { pathOfCitations, pathsOfBlocks, pathsOfTurns } from './source-paths.ts';
import { decodeChat } from '../../../../tests/support/wire/chat/request.ts';
import { decode } from '../../../../tests/support/wire/messages/request.ts';

/** Where each block stood, by what it holds. */
function placesOf(request: GenerationRequest): readonly string[] {
  const paths = pathsOfTurns(request);
  return request.turns.flatMap((turn, at) => {
    const blocks = pathsOfBlocks(request.format, turn, paths[at] ?? '');
    return turn.blocks.map((block, index) => `${block.type} ${blocks[index]}`);
  });
}

suite('a chat request', () => {
  test('has its instructions among the messages, and a bare string without an index', () => {
    const request = decodeChat({
      messages: [
        { role: 'system', content: 'a' },
        { role: 'developer', content: [{ type: 'text', text: 'b' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'c' },
            { type: 'image_url', image_url: { url: 'https://x/y.png' } },
          ],
        },
        { role: 'assistant', content: 'd' },
        { role: 'user', content: 'e' },
      ],
    });
    assert.deepEqual(placesOf(request), [
      'text messages[0].content',
      'text messages[1].content[0]',
      'text messages[2].content[0]',
      'media messages[2].content[1]',
      'text messages[3].content',
      'text messages[4].content',
    ]);
  });

  test('spreads an assistant message over several members, each counted by itself', () => {
    const request = decodeChat({
      messages: [
        { role: 'user', content: 'a' },
        {
          role: 'assistant',
          reasoning_details: [
            { type: 'reasoning.text', text: 't', signature: 's' },
            { type: 'reasoning.server_tool_call', tool_name: 'x', arguments: '{}', result: '{}' },
          ],
          content: [
            { type: 'text', text: 'b' },
            { type: 'refusal', refusal: 'no' },
            { type: 'text', text: 'c' },
          ],
          refusal: 'never',
          images: [{ image_url: { url: 'https://x/1.png' } }, { image_url: { url: 'https://x/2.png' } }],
          audio: { id: 'audio_1' },
          tool_calls: ['a', 'b'].map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
        },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'r' }] },
      ],
    });
    assert.deepEqual(placesOf(request).slice(1), [
      'reasoning messages[1].reasoning_details[0]',
      'opaque messages[1].reasoning_details[1]',
      'text messages[1].content[0]',
      'refusal messages[1].content[1]',
      'text messages[1].content[2]',
      'refusal messages[1].refusal',
      'media messages[1].images[0]',
      'media messages[1].images[1]',
      'media messages[1].audio',
      'tool-call messages[1].tool_calls[0]',
      'tool-call messages[1].tool_calls[1]',
      'tool-result messages[2]',
    ]);
  });

  test('says reasoning in the member that the caller chose', () => {
    for (const member of ['reasoning', 'reasoning_content']) {
      const message = { role: 'assistant', content: 'a', [member]: 'hm' };
      assert.equal(placesOf(decodeChat({ messages: [message] }))[0], `reasoning messages[0].${member}`);
    }
  });
});

suite('a messages request', () => {
  test('has its instructions beside the messages', () => {
    const blocks = [{ type: 'text', text: 'a' }];
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'b' }] },
      { role: 'system', content: 'c' },
    ];
    assert.deepEqual(placesOf(decode({ system: blocks, messages })), [
      'text system[0]',
      'text messages[0].content[0]',
      'text messages[1].content',
    ]);
    assert.equal(placesOf(decode({ system: 'a', messages }))[0], 'text system');
    assert.equal(placesOf(decode({ messages }))[0], 'text messages[0].content[0]');
  });

  test('may begin with instructions in a message', () => {
    const messages = [
      { role: 'system', content: 'a' },
      { role: 'user', content: 'b' },
    ];
    assert.deepEqual(placesOf(decode({ messages })), ['text messages[0].content', 'text messages[1].content']);
  });
});

test('sources stand on the text, or in chat on the message', () => {
  assert.equal(pathOfCitations('messages', 'messages[1].content[2]'), 'messages[1].content[2].citations');
  assert.equal(pathOfCitations('chat', 'messages[1].content[2]'), 'messages[1].annotations');
  assert.equal(pathOfCitations('chat', 'messages[1].content'), 'messages[1].annotations');
});

test('gives the instructions of a preset no path, and moves no message', () => {
  const text = { type: 'text', text: 'x' } as const;
  const turns: Turn[] = [
    { role: 'system', blocks: [text], plain: true, ofPreset: true },
    { role: 'user', blocks: [text], plain: true },
  ];
  for (const format of ['chat', 'messages'] as const)
    assert.deepEqual(pathsOfTurns({ format, turns }), ['preset', 'messages[0]']);
});
