import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CustomInputDecoder, unwrapCustomInput, wrapCustomInput } from './custom-input.ts';

const PATCH = '*** Begin Patch\n*** Update File: "a\\b".ts\n+\tconst wave = \'🌊\'; // \u0001 \\u0041\n*** End Patch';

function decodeInPieces(pieces: Iterable<string>): string {
  const decoder = new CustomInputDecoder();
  let text = '';
  for (const piece of pieces) {
    const delta = decoder.push(piece);
    assert.doesNotMatch(delta, /[\uD800-\uDBFF]$/, 'no character is sent in halves');
    text += delta;
  }
  return text + decoder.end();
}

function splitEvery(text: string, size: number): readonly string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
}

suite('the input of a custom tool', () => {
  test('comes back from the arguments that it was wrapped in', () => {
    assert.equal(unwrapCustomInput(wrapCustomInput(PATCH)), PATCH);
  });

  // @spec responses-46, responses-pains-20
  test('is the same however the arguments are cut', () => {
    const escaped = wrapCustomInput(PATCH).replace('🌊', '\\ud83c\\udf0a');
    for (const text of [wrapCustomInput(PATCH), escaped, ` { "input" : "${'x'.repeat(99)}\\n" } `])
      for (let size = 1; size < 12; size++)
        assert.equal(decodeInPieces(splitEvery(text, size)), unwrapCustomInput(text), `pieces of ${size}`);
    assert.equal(unwrapCustomInput(escaped), PATCH);
  });

  // @spec responses-46
  test('is sent while the arguments are coming', () => {
    const decoder = new CustomInputDecoder();
    const deltas = ['{"input', '":"*** Be', 'gin\\', 'n\\u00', 'e9', '"', '}'].map((piece) => decoder.push(piece));
    assert.deepEqual(deltas, ['', '*** Be', 'gin', '\n', 'é', '', '']);
    assert.equal(decoder.end(), '');
  });

  test('waits for the end where the arguments begin in another way', () => {
    const cases = [
      ['{"why":1,"input":"a"}', 'a'],
      ['{"patch":"a\\n"}', 'a\n'],
      ['"a\\n"', 'a\n'],
      ['*** Begin Patch', '*** Begin Patch'],
      ['{"a":"1","b":"2"}', '{"a":"1","b":"2"}'],
      ['', ''],
    ] as const;
    for (const [text, input] of cases) {
      const decoder = new CustomInputDecoder();
      assert.equal(decoder.push(text), '');
      assert.equal(decoder.end(), input, text);
    }
  });

  test('is what was sent already where the arguments turn out to be more, or broken', () => {
    assert.equal(unwrapCustomInput('{"input":"a","input":"b"}'), 'a');
    assert.equal(unwrapCustomInput('{"input":"a\nb\\q'), 'a\nb\\q');
    assert.equal(unwrapCustomInput('{"input":"a\\u00'), 'a');
    assert.equal(unwrapCustomInput('{"input":"a\\ud83c"}'), 'a\ud83c');
  });
});
