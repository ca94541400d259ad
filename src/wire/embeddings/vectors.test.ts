import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotThatJson } from '../../lib/json/walk-bytes.ts';
import { vectorAt } from './vectors.ts';

const at = (text: string): ReturnType<typeof vectorAt> => vectorAt(Buffer.from(`${text},1`), 0);

// @spec embeddings-2
test('takes base64 of whole floats as it stands, of any length and padding', () => {
  for (const dimensions of [1, 2, 3, 4, 5, 7, 1_536]) {
    const floats = Float32Array.from({ length: dimensions }, (_none, index) => index / 7 - 0.5);
    const text = JSON.stringify(Buffer.from(floats.buffer).toString('base64'));
    const { vector, end } = at(text);
    assert.deepEqual(
      [vector.encoding, vector.dimensions, vector.bytes.toString(), end],
      ['base64', dimensions, text, text.length],
    );
    const escaped = at(text.replaceAll('/', String.raw`\/`));
    assert.deepEqual([escaped.vector.dimensions, escaped.vector.bytes.toString()], [dimensions, text]);
  }
});

// @spec embeddings-4
test('refuses what is no base64, wherever it stands, and parts of floats', () => {
  const text = 'AACAPwAAAEA=';
  for (let index = 0; index < text.length - 1; index++)
    for (const foreign of ['-', '_', ' ', '=', 'é', '\u0000', '.'])
      assert.throws(
        () => at(`"${text.slice(0, index)}${foreign}${text.slice(index + 1)}"`),
        NotThatJson,
        `${index} ${foreign}`,
      );
  for (const short of ['', '=', '==', 'AAA=', 'AACAPwA=']) assert.throws(() => at(`"${short}"`), NotThatJson, short);
});

// @spec embeddings-4
test('counts numbers, and refuses what is no list of them', () => {
  for (const [text, dimensions] of [
    ['[1]', 1],
    ['[ -0.5e-7 ,\n2E+3,3 ]', 3],
    [`[${Array.from({ length: 1_536 }, (_none, index) => index / 3).join(',')}]`, 1_536],
  ] as const) {
    const { vector, end } = at(text);
    assert.deepEqual(
      [vector.encoding, vector.dimensions, vector.bytes.toString(), end],
      ['float', dimensions, text, text.length],
    );
  }
  for (const text of [
    '[]',
    '[ ]',
    '[,]',
    '[1,]',
    '[,1]',
    '[1,,2]',
    '[1, ,2]',
    '[null]',
    '[1,NaN]',
    '["1"]',
    '[[1]]',
    '[-]',
    '{}',
    '1',
  ])
    assert.throws(() => at(text), NotThatJson, text);
  assert.throws(() => vectorAt(Buffer.from('[1,2'), 0), NotThatJson);
});
