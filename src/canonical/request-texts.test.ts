import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
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

suite('reasoning', () => {
  const base64 = Buffer.from('project-1').toString('base64');
  /** What is looked at of a block, and what becomes of it where words are replaced. */
  function look(block: object): { readonly seen: readonly unknown[]; readonly changed: unknown } {
    const turns = [{ role: 'assistant', blocks: [{ type: 'reasoning', ...block }] }];
    const request = { settings: {}, turns } as unknown as GenerationRequest;
    const seen: unknown[] = [];
    const changed = changeRequestTexts(request, (text, { isSealed }) => {
      seen.push([text, isSealed === true]);
      return text.replaceAll(/project-\d/g, '[X]');
    });
    return { seen, changed: changed.turns[0]?.blocks[0] };
  }

  test('that is signed is text that nobody may change, whatever the signature is worth', () => {
    const { seen, changed } = look({ form: 'text', text: 'On project-1.', signature: base64 });
    assert.deepEqual(seen, [['On project-1.', true]]);
    assert.deepEqual(
      changed,
      { type: 'reasoning', form: 'text', text: 'On [X].' },
      'for records: it is signed no more',
    );
  });

  test('that is not signed is text like any other', () => {
    assert.deepEqual(look({ form: 'text', text: 'On project-1.' }).seen, [['On project-1.', false]]);
  });

  test('that is encrypted is none, but words in its place are, and those in place of a signature', () => {
    assert.deepEqual(look({ form: 'encrypted', text: base64 }).seen, []);
    assert.deepEqual(look({ form: 'encrypted', text: 'On project-1.' }).seen, [['On project-1.', true]]);
    const { seen } = look({ form: 'text', text: '', signature: 'On project-1.' });
    assert.deepEqual(seen, [
      ['', true],
      ['On project-1.', true],
    ]);
  });
});
