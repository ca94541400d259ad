import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFormFields, type FormFieldTypes } from './form-fields.ts';

const TYPES: FormFieldTypes = { n: 'number', b: 'boolean', list: 'texts', j: 'json', t: 'text' };

const decode = (...fields: (readonly [string, ...string[]])[]): object =>
  decodeFormFields(new Map(fields.map(([name, ...values]) => [name, values])), TYPES);

// @spec request-34
test('reads the text of a field as what the body in JSON has there', () => {
  assert.deepEqual(decode(['n', '-0.5'], ['b', '1'], ['t', '7'], ['j', '{"order":["a"]}']), {
    n: -0.5,
    b: true,
    t: '7',
    j: { order: ['a'] },
  });
  assert.deepEqual(decode(['b', 'false']), { b: false });
});

test('reads a list that is repeated, written as JSON, or of one item', () => {
  assert.deepEqual(decode(['list', 'word', 'segment']), { list: ['word', 'segment'] });
  assert.deepEqual(decode(['list', '["word","segment"]']), { list: ['word', 'segment'] });
  assert.deepEqual(decode(['list', 'word']), { list: ['word'] });
  assert.deepEqual(decode(['list', '[not json']), { list: ['[not json'] });
});

test('takes the last of several values, and none of an empty field', () => {
  assert.deepEqual(decode(['t', 'a', 'b'], ['n', ''], ['other', 'x'], ['more', 'x', 'y']), {
    t: 'b',
    other: 'x',
    more: ['x', 'y'],
  });
});

for (const [name, text] of [
  ['n', 'five'],
  ['n', '1e9999'],
  ['n', ' 1'],
  ['n', '0x10'],
  ['b', 'yes'],
  ['b', 'toString'],
  ['j', '{'],
] as const)
  test(`refuses ${JSON.stringify(text)} at the name of its field`, () => {
    assert.throws(() => decode([name, text]), {
      status: 400,
      issues: [
        {
          path: name,
          message: name === 'n' ? 'must be a number' : name === 'b' ? 'must be true or false' : 'must be JSON',
        },
      ],
    });
  });
