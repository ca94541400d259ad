import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Citation } from '../../canonical/blocks.ts';
import type { JsonObject } from '../../lib/json.ts';
import { encodeCitation, decodeCitation } from './citations.ts';
import { encodeRedacted, joinBase64, decodeRedacted } from './redacted-content.ts';
import fc from 'fast-check';
import { CLAUDE, encodeChat, encodeMessages, model } from '../../../tests/support/wire/converse/request.ts';

const EXCERPT: JsonObject = { sourceContent: [{ text: 'Ruby is ' }, { text: 'from 1993.' }] };
const OWN: JsonObject = { sourceContent: [{ text: 'Ruby is from 1993.' }] };

test('places in documents are those of the messages format, and come back as they were', () => {
  const cases: readonly (readonly [JsonObject, JsonObject])[] = [
    [
      { title: 'facts', location: { documentChar: { documentIndex: 1, start: 3, end: 21 } } },
      {
        type: 'char_location',
        document_index: 1,
        document_title: 'facts',
        start_char_index: 3,
        end_char_index: 21,
        file_id: null,
      },
    ],
    [
      { title: 'facts', location: { documentPage: { documentIndex: 0, start: 1, end: 2 } } },
      {
        type: 'page_location',
        document_index: 0,
        document_title: 'facts',
        start_page_number: 1,
        end_page_number: 2,
        file_id: null,
      },
    ],
    [
      { location: { documentChunk: { documentIndex: 0, start: 4, end: 5 } } },
      {
        type: 'content_block_location',
        document_index: 0,
        document_title: null,
        start_block_index: 4,
        end_block_index: 5,
        file_id: null,
      },
    ],
    [
      {
        title: 'wiki',
        source: 'https://x.test',
        location: { searchResultLocation: { searchResultIndex: 2, start: 0, end: 1 } },
      },
      {
        type: 'search_result_location',
        search_result_index: 2,
        source: 'https://x.test',
        title: 'wiki',
        start_block_index: 0,
        end_block_index: 1,
      },
    ],
  ];
  for (const [wire, expected] of cases) {
    const citation = decodeCitation({ ...wire, ...EXCERPT });
    const value = { ...expected, cited_text: 'Ruby is from 1993.' };
    assert.deepEqual(citation, { type: 'opaque', format: 'messages', value });
    assert.deepEqual(encodeCitation(citation), { ...wire, ...OWN });
  }
});

test('decodes a web source to a citation that every format can express', () => {
  const wire = { title: 'T', location: { web: { url: 'https://x.test/a', domain: 'x.test' } } };
  const citation = decodeCitation({ ...wire, ...EXCERPT });
  assert.deepEqual(citation, {
    type: 'url',
    url: 'https://x.test/a',
    title: 'T',
    excerpt: 'Ruby is from 1993.',
    extra: { format: 'converse', fields: { domain: 'x.test' } },
  });
  assert.deepEqual(encodeCitation(citation), { ...wire, ...OWN });
});

test('passes a citation of an unknown position on, and sends it back', () => {
  const wire: JsonObject = { title: 'T', location: { fourthDimension: { at: 1 } } };
  const citation = decodeCitation(wire);
  assert.deepEqual(citation, { type: 'opaque', format: 'converse', value: wire });
  assert.deepEqual(encodeCitation(citation), wire);
});

test('citations of others are not sent', () => {
  const foreign: readonly Citation[] = [
    { type: 'url', url: 'https://x.test' },
    { type: 'opaque', format: 'messages', value: { type: 'web_search_result_location', url: 'https://x.test' } },
    { type: 'opaque', format: 'responses', value: { type: 'file_citation' } },
  ];
  for (const citation of foreign) assert.equal(encodeCitation(citation), undefined);
});

const CITED: JsonObject = {
  type: 'char_location',
  cited_text: 'Ruby is from 1993.',
  document_index: 0,
  document_title: 'facts',
  start_char_index: 3,
  end_char_index: 21,
};

function answered(dialect = CLAUDE): ReturnType<typeof encodeMessages> {
  const content = [{ type: 'text', text: 'From 1993.', citations: [CITED] }];
  return encodeMessages(
    {
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content },
        { role: 'user', content: 'on' },
      ],
    },
    dialect,
  );
}

test('cited text goes back to a Claude as it was, and to others without its sources', () => {
  const at = (body: JsonObject): unknown => (body['messages'] as readonly JsonObject[])[1]?.['content'];
  const { body, warned } = answered();
  assert.deepEqual(at(body), [
    {
      citationsContent: {
        content: [{ text: 'From 1993.' }],
        citations: [{ title: 'facts', ...OWN, location: { documentChar: { documentIndex: 0, start: 3, end: 21 } } }],
      },
    },
  ]);
  assert.deepEqual(warned, []);
  const other = answered(model({}));
  assert.deepEqual(at(other.body), [{ text: 'From 1993.' }]);
  assert.deepEqual(other.warned, ['content-dropped messages[1].content[0].citations']);
  const annotations = [
    { type: 'url_citation', url_citation: { url: 'https://x.test', title: 'T', start_index: 0, end_index: 4 } },
  ];
  const chat = encodeChat(
    {
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: 'From 1993.', annotations },
        { role: 'user', content: 'on' },
      ],
    },
    CLAUDE,
  );
  assert.deepEqual(at(chat.body), [{ text: 'From 1993.' }]);
  assert.deepEqual(chat.warned, ['content-dropped messages[1].annotations']);
});

test('sends any blob of encrypted reasoning back as the same bytes', () => {
  const texts = fc.string().map((text) => Buffer.from(text).toString('base64'));
  const bytes = fc.uint8Array().map((value) => Buffer.from(value).toString('base64'));
  fc.assert(
    fc.property(fc.oneof(texts, bytes, fc.base64String(), fc.string()), (blob) => {
      assert.equal(encodeRedacted(decodeRedacted(blob)), blob);
    }),
  );
  assert.equal(decodeRedacted(Buffer.from('EpAHCoYB').toString('base64')), 'EpAHCoYB');
});

test('pieces of base64 are put together by their bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 1 }), { minLength: 1 }), (parts) => {
      const pieces = parts.map((part) => Buffer.from(part).toString('base64'));
      assert.equal(joinBase64(pieces), Buffer.concat(parts).toString('base64'));
    }),
  );
});
