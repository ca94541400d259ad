import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationRequest, Settings } from '../../../canonical/request.ts';
import { raiseMaxTokens } from './raise-max-tokens.ts';
import { plainDirectives } from '../../../../tests/support/plain-directives.ts';

function request(settings: Settings): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [],
    tools: [],
    settings,
    directives: plainDirectives(),
    warnings: [],
  };
}

test("raises a limit below the endpoint's minimum, with a warning", () => {
  const raised = raiseMaxTokens(request({ maxTokens: 1, topK: 2 }), 16);
  assert.deepEqual(raised.request.settings, { maxTokens: 16, topK: 2 });
  assert.deepEqual(
    raised.warnings.map(({ code, path }) => [code, path]),
    [['field-changed', 'max_tokens']],
  );
});

test('keeps any other limit, and none', () => {
  for (const [settings, least] of [
    [{ maxTokens: 16 }, 16],
    [{ maxTokens: 1 }, undefined],
    [{}, 16],
  ] as const) {
    const given = request(settings);
    assert.deepEqual(raiseMaxTokens(given, least), { request: given, warnings: [] });
  }
});
