import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../lib/json.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { changeRequestTexts } from './request-texts.ts';

/** Texts that are found in a block that only one format knows. */
function textsIn(value: JsonObject): readonly string[] {
  const turns = [{ role: 'assistant', blocks: [{ type: 'opaque', format: 'messages', value }] }];
  const texts: string[] = [];
  changeRequestTexts({ settings: {}, turns } as unknown as GenerationRequest, (text, { isSealed }) => {
    if (isSealed !== true) texts.push(text);
    return text;
  });
  return texts;
}

test('members for programs, and bytes in the form of text, are no texts that may be changed', () => {
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

test('includes the name of a speaker: some formats put it before the text', () => {
  const turns = [{ role: 'user', name: 'Ann', blocks: [{ type: 'text', text: 'Hello' }] }];
  const request = { settings: {}, turns } as unknown as GenerationRequest;
  const changed = changeRequestTexts(request, (text, { byUser }) => (text === 'Ann' && byUser ? '[NAME]' : text));
  assert.deepEqual(changed.turns, [{ ...turns[0], name: '[NAME]' }]);
  assert.equal(
    changeRequestTexts(request, (text) => text),
    request,
  );
});

test('includes plain text, also where bytes are expected', () => {
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

  test('includes signed text as unchangeable, whether the signature is valid or not', () => {
    const { seen, changed } = look({ form: 'text', text: 'On project-1.', signature: base64 });
    assert.deepEqual(seen, [['On project-1.', true]]);
    assert.deepEqual(
      changed,
      { type: 'reasoning', form: 'text', text: 'On [X].' },
      'for records: it is signed no more',
    );
  });

  test('includes unsigned text like any other', () => {
    assert.deepEqual(look({ form: 'text', text: 'On project-1.' }).seen, [['On project-1.', false]]);
  });

  test('excludes encrypted data, but includes words in its place, and in place of a signature', () => {
    assert.deepEqual(look({ form: 'encrypted', text: base64 }).seen, []);
    assert.deepEqual(look({ form: 'encrypted', text: 'On project-1.' }).seen, [['On project-1.', true]]);
    const { seen } = look({ form: 'text', text: '', signature: 'On project-1.' });
    assert.deepEqual(seen, [
      ['', true],
      ['On project-1.', true],
    ]);
  });
});

suite('includes what programs parse as text that may be found and not changed', () => {
  const turn = (role: string, block: object) => ({ role, blocks: [block] });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const PLACES: Readonly<Record<string, object>> = {
    'a stop sequence': { settings: { stop: ['SECRET'] } },
    'the id of a call': { turns: [turn('assistant', { type: 'tool-call', id: 'SECRET', name: 't', input: '{}' })] },
    'the id of a result': { turns: [turn('tool', { type: 'tool-result', callId: 'SECRET', content: [] })] },
    'a value of a wanted schema': {
      settings: { responseFormat: { type: 'json_schema', schema: { enum: ['SECRET'] } } },
    },
    'a name in a wanted schema': {
      settings: { responseFormat: { type: 'json_schema', schema: { properties: { SECRET: {} } } } },
    },
    'the name of a wanted schema': { settings: { responseFormat: { type: 'json_schema', name: 'SECRET' } } },
    'a grammar': { settings: { responseFormat: { type: 'grammar', grammar: 'SECRET' } } },
    'a key of the prompt cache': { settings: { promptCacheKey: 'SECRET' } },
    'options of a search': { settings: { webSearchOptions: { user_location: { city: 'SECRET' } } } },
    'the name of an unknown member': { extra: { format: 'chat', fields: { SECRET: 1 } } },
    'an id in an unknown member': { extra: { format: 'chat', fields: { a: { thing_id: 'SECRET' } } } },
    'a text in an address': {
      turns: [turn('user', { type: 'media', media: 'image', source: { type: 'url', url: 'data:,%53ECRET' } })],
    },
    'a text in an address of an unknown member': {
      extra: { format: 'chat', fields: { url: `data:text/plain;charset=utf-8;base64,${base64('SECRET')}` } },
    },
  };
  for (const [where, more] of Object.entries(PLACES))
    test(where, () => {
      const request = { settings: {}, turns: [], ...more } as unknown as GenerationRequest;
      const found: unknown[] = [];
      const changed = changeRequestTexts(request, (text, { isSealed }) => {
        if (text.includes('SECRET')) found.push(isSealed);
        return text.replaceAll('SECRET', '[X]');
      });
      assert.deepEqual(found, [true]);
      assert.doesNotMatch(JSON.stringify(changed), /SECRET|U0VDUkVU/);
      assert.equal(
        changeRequestTexts(request, (text) => text),
        request,
      );
    });

  test('changes a text file in base64 like any text', () => {
    const source = { type: 'base64', mediaType: 'text/csv', data: base64('a,SECRET') };
    const request = {
      settings: {},
      turns: [turn('user', { type: 'media', media: 'document', source })],
    } as unknown as GenerationRequest;
    const changed = changeRequestTexts(request, (text) => text.replace('SECRET', '[X]'));
    assert.match(JSON.stringify(changed), new RegExp(base64('a,[X]')));
  });
});
