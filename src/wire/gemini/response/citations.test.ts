import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { GenerationResponse } from '../../../canonical/response.ts';
import type { Citation } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import {
  call,
  chunk,
  finish,
  foldStream,
  GROUNDED,
  textOfBlocks,
  TIDES_TEXT,
} from '../../../../tests/support/wire/gemini/streams.ts';

function citationsOf({ blocks, citations }: GenerationResponse): readonly Citation[] {
  const ofTexts = blocks.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []));
  return [...ofTexts, ...citations.map(({ citation }) => citation)];
}

/** What each source stands for, in the text of the whole response. */
function quotesOf(response: GenerationResponse): readonly (string | undefined)[] {
  const text = textOfBlocks(response, 'text');
  return citationsOf(response).map((citation) =>
    citation.type === 'url' && citation.start !== undefined ? text.slice(citation.start, citation.end) : undefined,
  );
}

const PAGE = { web: { uri: 'https://a.example/', title: 'A' } };

function grounded(
  text: string,
  supports: readonly JsonObject[],
  chunks: readonly JsonObject[] = [PAGE],
): GenerationResponse {
  return foldStream([
    finish('STOP', [{ text }], { groundingMetadata: { groundingChunks: chunks, groundingSupports: supports } }),
  ]);
}

suite('sources of a text', () => {
  test('point at their words, although the vendor counts bytes', () => {
    const response = foldStream(GROUNDED);
    assert.equal(textOfBlocks(response, 'text'), TIDES_TEXT);
    assert.deepEqual(quotesOf(response), ['Tides come', 'from the moon', 'from the moon']);
    assert.deepEqual(citationsOf(response)[2], {
      type: 'url',
      url: 'https://moon.example/',
      title: 'moon.example',
      start: TIDES_TEXT.indexOf('from'),
      end: TIDES_TEXT.indexOf('from') + 'from the moon'.length,
    });
  });

  test('count the searches, each query once', () => {
    const response = foldStream([...GROUNDED, { usageMetadata: { promptTokenCount: 5 } }]);
    assert.equal(response.usage?.webSearchRequests, 2);
  });

  test('are found by their words when they count otherwise', () => {
    const response = grounded('Müde? Ja, müde.', [
      { segment: { startIndex: 10, endIndex: 14, text: 'müde' }, groundingChunkIndices: [0] },
    ]);
    assert.deepEqual(quotesOf(response), ['müde']);
  });

  test('are reported without a position when their quote is not in the text', () => {
    const response = grounded('Yes.', [{ segment: { endIndex: 9, text: 'elsewhere' }, groundingChunkIndices: [0] }]);
    assert.deepEqual(citationsOf(response), [{ type: 'url', url: 'https://a.example/', title: 'A' }]);
  });

  test('belong to the whole response without any place', () => {
    assert.deepEqual(grounded('Yes.', []).citations, [
      { citation: { type: 'url', url: 'https://a.example/', title: 'A' }, afterBlocks: 1 },
    ]);
  });

  test('are none when they lead nowhere', () => {
    const supports = [{ segment: { endIndex: 3 }, groundingChunkIndices: [5, 1, 'x'] }];
    assert.deepEqual(citationsOf(grounded('Yes.', supports, [PAGE, { web: { title: 'no address' } }])), []);
  });

  test('may be places, documents and pictures', () => {
    const chunks = [
      { maps: { uri: 'https://maps.example/', title: 'Café' } },
      { retrievedContext: { uri: 'gs://bucket/doc', title: 'Doc', text: 'So it is.' } },
      { image: { sourceUri: 'https://page.example/', imageUri: 'https://page.example/a.png' } },
    ];
    assert.deepEqual(
      grounded('Yes.', [{ segment: { endIndex: 3 }, groundingChunkIndices: [0, 1, 2] }], chunks).blocks[0],
      {
        type: 'text',
        text: 'Yes.',
        citations: [
          { type: 'url', url: 'https://maps.example/', title: 'Café', start: 0, end: 3 },
          { type: 'url', url: 'gs://bucket/doc', title: 'Doc', excerpt: 'So it is.', start: 0, end: 3 },
          { type: 'url', url: 'https://page.example/', start: 0, end: 3 },
        ],
      },
    );
  });

  test('are reported for the whole response, at the very same position, once the text has ended', () => {
    const text = 'Größe: 5.';
    const segment = { startIndex: 8, endIndex: 11, text: ' 5.' };
    const groundingMetadata = { groundingChunks: [PAGE], groundingSupports: [{ segment, groundingChunkIndices: [0] }] };
    const response = foldStream([chunk([{ text }]), finish('STOP', [call('f', {})], { groundingMetadata })]);
    assert.equal(response.citations.length, 1);
    const citation = response.citations[0]?.citation;
    assert.equal(citation?.type === 'url' && text.slice(citation.start, citation.end), ' 5.');
  });
});

test('works that are quoted at length are sources too', () => {
  for (const member of ['citationSources', 'citations']) {
    const citationMetadata = {
      [member]: [{ startIndex: 0, endIndex: 4, uri: 'https://b.example/', license: 'MIT' }, { endIndex: 3 }],
    };
    const response = foldStream([finish('STOP', [{ text: 'Ünd so weiter' }], { citationMetadata })]);
    assert.deepEqual(quotesOf(response), ['Ünd']);
  }
});

test('turns bytes of any text into characters', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.string({ unit: 'grapheme' }),
      (before, quote, after) => {
        const startIndex = Buffer.byteLength(before);
        const segment = { startIndex, endIndex: startIndex + Buffer.byteLength(quote), text: quote };
        const response = grounded(before + quote + after, [{ segment, groundingChunkIndices: [0] }]);
        assert.deepEqual(quotesOf(response), [quote]);
        const [citation] = citationsOf(response);
        assert.equal(citation?.type === 'url' && citation.start, before.length);
      },
    ),
    { numRuns: 500 },
  );
});
