import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../lib/json.ts';
import type { GenerationRequest } from './request.ts';
import { changeRequestTexts } from './request-texts.ts';

/** Texts that are found in a block that only one format knows. */
function textsIn(value: JsonObject): readonly string[] {
  const turns = [{ role: 'assistant', blocks: [{ type: 'opaque', format: 'messages', value }] }];
  const texts: string[] = [];
  changeRequestTexts({ settings: {}, turns } as unknown as GenerationRequest, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

test('members for programs, and bytes in the form of text, are no texts', () => {
  const bytes = Buffer.from('ann@example.com').toString('base64');
  assert.deepEqual(
    textsIn({
      type: 'strange',
      tool_use_id: 'ann@example.com',
      url: 'https://example.com/?to=ann@example.com',
      data: bytes,
      file_data: `data:application/pdf;base64,${bytes}`,
      encrypted_content: `${bytes}\r\n${bytes}`,
      content: [{ media_type: 'text/plain', title: 'A title', words: ['one', { deep: 'two' }] }],
    }),
    ['A title', 'one', 'two'],
  );
});

test('the name of a speaker is one: some formats say it in front of the words', () => {
  const turns = [{ role: 'user', name: 'Ann', blocks: [{ type: 'text', text: 'Hello' }] }];
  const request = { settings: {}, turns } as unknown as GenerationRequest;
  const changed = changeRequestTexts(request, (text, { byUser }) => (text === 'Ann' && byUser ? '[NAME]' : text));
  assert.deepEqual(changed.turns, [{ ...turns[0], name: '[NAME]' }]);
  assert.equal(
    changeRequestTexts(request, (text) => text),
    request,
  );
});

test('plain text is one, also where bytes are expected', () => {
  const words = 'Ann is ann@example.com.';
  for (const name of ['data', 'file_data', 'encrypted_content', 'signature'])
    for (const text of [words, `data:text/plain,${words}`]) assert.deepEqual(textsIn({ [name]: text }), [text], name);
});
