import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { ChunkTemplate } from './plain-chunk.ts';

const USAGE = '{"promptTokenCount": 4,"candidatesTokenCount": 2}';

function source(text: string, usage: string | null = USAGE, candidate = '', id = 'a'): string {
  const parts = `[{"text": ${JSON.stringify(text)}}]`;
  const counts = usage === null ? '' : `,"usageMetadata": ${usage}`;
  return `{"candidates": [{"content": {"parts": ${parts},"role": "model"},"index": 0${candidate}}]${counts},"responseId": "${id}"}`;
}

function learnt(from: string): ChunkTemplate {
  const template = new ChunkTemplate();
  template.learn(parseJsonObject(from) ?? {}, from);
  return template;
}

suite('a chunk that fits the one before', () => {
  test('is read without being parsed, with its counts', () => {
    const next = source(' wörld 🌍', '{"promptTokenCount": 4,"candidatesTokenCount": 31}');
    assert.deepEqual(learnt(source('Hello')).match(next), {
      text: ' wörld 🌍',
      usage: { promptTokenCount: 4, candidatesTokenCount: 31 },
    });
  });

  test('may hold what is written with escapes', () => {
    const text = 'a "b"\\\n}], "role": "x" é \u2028';
    assert.equal(learnt(source('Hello')).match(source(text))?.text, text);
  });

  test('may have no counts, as those of some hosts before the last', () => {
    const bare = (text: string): string => `{"candidates":[{"content":{"parts":[{"text":"${text}"}]}}]}`;
    assert.deepEqual(learnt(bare('a')).match(bare('b')), { text: 'b', usage: undefined });
  });

  test('holds what a parser finds in it, whatever the chunks are', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('"', '\\', '"}],', '"text":"x"', '\n', '{', '}'),
    );
    const usage = fc.oneof(
      fc.constantFrom(null, USAGE, '{}', 'null', '7', '{"a":1},"usageMetadata":{"b":2}'),
      fc.record({ promptTokenCount: fc.nat() }).map((value) => JSON.stringify(value)),
    );
    const more = fc.constantFrom('', ',"finishReason":"STOP"', ',"groundingMetadata":{}', ',"content":{"parts":[]}');
    fc.assert(
      fc.property(text, text, usage, usage, more, more, (first, second, usage1, usage2, more1, more2) => {
        const next = source(second, usage2, more2);
        const read = learnt(source(first, usage1, more1)).match(next);
        if (read === undefined) return;
        const { candidates, usageMetadata } = JSON.parse(next) as {
          readonly candidates: readonly { readonly content: { readonly parts: readonly JsonObject[] } }[];
          readonly usageMetadata?: JsonObject;
        };
        assert.deepEqual(candidates[0]?.content.parts, [{ text: read.text }]);
        assert.deepEqual(read.usage, usageMetadata);
      }),
      { numRuns: 1_000 },
    );
  });
});

suite('the parser is left', () => {
  const template = learnt(source('Hello'));
  const others: Readonly<Record<string, string>> = {
    'an empty text': source(''),
    'another answer': source('x', USAGE, '', 'b'),
    'the reason to stop': source('x', USAGE, ',"finishReason": "STOP"'),
    'counts that are no object': source('x', '7'),
    'no counts': source('x', null),
    'a signature beside the text': source('x').replace('"x"}', '"x","thoughtSignature": "c2ln"}'),
  };
  for (const [what, chunk] of Object.entries(others))
    test(what, () => {
      assert.notEqual(chunk, source('Hello'));
      assert.equal(template.match(chunk), undefined);
    });

  test('chunks like one that says more than its text', () => {
    const reporting = [
      source('x', USAGE, ',"finishReason": "STOP"'),
      source('x', USAGE, ',"groundingMetadata": {"webSearchQueries": ["x"]}'),
      source('x').replace('"x"}', '"x","thought": true}'),
      source('x').replace('{"candidates"', '{"promptFeedback": {"blockReason": "SAFETY"},"candidates"'),
      source('x').replace('"index": 0', '"index": 1'),
    ];
    for (const chunk of reporting) assert.equal(learnt(chunk).match(chunk), undefined, chunk);
  });
});
