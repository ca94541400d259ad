import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tool } from '../../canonical/request.ts';
import { createToolCheck } from './check-tool-calls.ts';

const look: Tool = {
  type: 'function',
  name: 'look_up',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};

function verdictOf(name: string, ...pieces: readonly string[]): string | undefined {
  const check = createToolCheck([look]);
  check.push([
    { type: 'block-start', index: 0, block: { type: 'tool-call', id: 'c', name, input: '', runBy: 'caller' } },
  ]);
  for (const text of pieces) check.push([{ type: 'block-delta', index: 0, text }]);
  return check.verdict();
}

// @spec route-24
test('accepts a call with a known name and JSON arguments that fit the schema', () => {
  assert.equal(verdictOf('look_up', '{"wo', 'rd":"x"}'), 'valid');
  for (const input of ['{"word":', '{}', '{"word":1}', '[]'])
    assert.equal(verdictOf('look_up', input), 'broken', input);
  assert.equal(verdictOf('unknown', '{}'), 'broken');
});

test('judges neither a response without calls nor one that is too long', () => {
  assert.equal(createToolCheck([look]).verdict(), undefined);
  assert.equal(verdictOf('look_up', 'x'.repeat(300_000)), undefined);
});
