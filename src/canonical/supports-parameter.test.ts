import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parameterOfFormat, supportsParameter } from './supports-parameter.ts';

test('covers parameters of the list, their synonyms, and options that only qualify tools', () => {
  assert.equal(supportsParameter(new Set(['seed']), 'seed'), true);
  assert.equal(supportsParameter(new Set(['seed']), 'top_k'), false);
  assert.equal(supportsParameter(new Set(['response_format']), 'structured_outputs'), true);
  assert.equal(supportsParameter(new Set(['structured_outputs']), 'response_format'), true);
  assert.equal(supportsParameter(new Set(['include_reasoning']), 'reasoning'), true);
  for (const option of ['tool_choice', 'parallel_tool_calls']) {
    assert.equal(supportsParameter(new Set(['tools']), option), true);
    assert.equal(supportsParameter(new Set(['seed']), option), false);
  }
  assert.equal(supportsParameter(new Set(['tool_choice']), 'tools'), false);
});

test('covers parameters that every endpoint must take with an empty list', () => {
  for (const parameter of ['max_tokens', 'max_completion_tokens', 'stop', 'temperature', 'top_p'])
    assert.equal(supportsParameter(new Set(), parameter), true);
});

test('does not cover a grammar or a program by a list that only knows schemas', () => {
  assert.equal(parameterOfFormat({ type: 'text' }), undefined);
  assert.equal(parameterOfFormat({ type: 'json_object' }), 'response_format');
  assert.equal(parameterOfFormat({ type: 'json_schema' }), 'structured_outputs');
  assert.equal(parameterOfFormat({ type: 'grammar', grammar: 'x' }), 'grammar');
  assert.equal(parameterOfFormat({ type: 'python' }), 'python');
  assert.equal(supportsParameter(new Set(['response_format', 'structured_outputs']), 'grammar'), false);
});
