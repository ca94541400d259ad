import assert from 'node:assert/strict';
import test from 'node:test';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { checkShape } from './validation/check-shape.ts';
import { oneOrMoreStopConditions, decodeStopConditions } from './stop-conditions.ts';

function read(value: unknown) {
  return decodeStopConditions(checkShape(oneOrMoreStopConditions, value, { root: 'stop' }));
}

// @spec messages-13, tool-17
test('decodes all five conditions, in order', () => {
  assert.deepEqual(
    read([
      { type: 'step_count_is', step_count: 3 },
      { type: 'has_tool_call', tool_name: 'service:web_search' },
      { type: 'max_tokens_used', max_tokens: 1000 },
      { type: 'max_cost', max_cost_in_dollars: 0.25 },
      { type: 'finish_reason_is', reason: 'length' },
    ]),
    [
      { type: 'step_count_is', stepCount: 3 },
      { type: 'has_tool_call', toolName: 'service:web_search' },
      { type: 'max_tokens_used', maxTokens: 1000 },
      { type: 'max_cost', maxCostInDollars: 0.25 },
      { type: 'finish_reason_is', reason: 'length' },
    ],
  );
});

// @spec tool-16
test('decodes one condition alone as a list of one', () => {
  assert.deepEqual(read({ type: 'step_count_is', step_count: 1 }), [{ type: 'step_count_is', stepCount: 1 }]);
});

for (const [value, path] of [
  [[], 'stop'],
  [null, 'stop'],
  ['step_count_is', 'stop'],
  [{}, 'stop.type'],
  [{ type: 'forever' }, 'stop.type'],
  [{ type: 'step_count_is' }, 'stop.step_count'],
  [[{ type: 'step_count_is', step_count: 1.5 }], 'stop[0].step_count'],
  [[{ type: 'step_count_is', step_count: -1 }], 'stop[0].step_count'],
  [[{ type: 'max_cost', max_cost_in_dollars: '1' }], 'stop[0].max_cost_in_dollars'],
  [[{ type: 'max_cost', max_cost_in_dollars: -1 }], 'stop[0].max_cost_in_dollars'],
  [[{ type: 'max_tokens_used', max_tokens: -1 }], 'stop[0].max_tokens'],
  [[{ type: 'has_tool_call', tool_name: '' }], 'stop[0].tool_name'],
  [
    [
      { type: 'max_cost', max_cost_in_dollars: 1 },
      { type: 'finish_reason_is', reason: '' },
    ],
    'stop[1].reason',
  ],
] as const) {
  test(`${JSON.stringify(value)} is 400 at ${path}`, () => {
    assert.throws(
      () => read(value),
      (error) => error instanceof GatewayError && error.status === 400 && error.issues?.[0]?.path === path,
    );
  });
}
