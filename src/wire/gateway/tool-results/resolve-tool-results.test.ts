import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeChat } from '../../../../tests/support/wire/chat/request.ts';
import { createWarnings } from '../warnings.ts';
import { locateTurns } from '../source/source-positions.ts';
import { resolveToolResults } from './resolve-tool-results.ts';

const asks = (...ids: readonly string[]): JsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
});
const reports = (id: string): JsonObject => ({ role: 'tool', tool_call_id: id, content: 'done' });
const states = (role: string): JsonObject => ({ role, content: role });

/** The runs, each as roles and ids of results, and the paths of the warnings. */
function settle(...messages: readonly JsonObject[]) {
  const warnings = createWarnings();
  const request = decodeChat({ model: 'acme/one', messages });
  const runs = resolveToolResults(locateTurns(request, warnings), request, warnings);
  const shown = runs.map((run) =>
    run.map(({ turn }) =>
      turn.blocks.map((block) => (block.type === 'tool-result' ? block.callId : turn.role)).join(' '),
    ),
  );
  return [shown, warnings.list.map(({ path }) => path)];
}

test('keeps a result behind its call, with the blocks between them', () => {
  assert.deepEqual(settle(states('user'), asks('a', 'b'), states('user'), reports('b'), reports('a')), [
    [['user'], ['assistant assistant'], ['user', 'b', 'a']],
    [],
  ]);
});

test('moves a later result to its call, and leaves nothing behind', () => {
  assert.deepEqual(settle(asks('a'), states('user'), states('assistant'), reports('a'), states('assistant')), [
    [['assistant'], ['user', 'a'], ['assistant'], [], ['assistant']],
    ['messages[3]'],
  ]);
});

test('matches the latest of calls that share an id', () => {
  assert.deepEqual(settle(asks('a'), reports('a'), asks('a'), reports('a')), [
    [['assistant'], ['a'], ['assistant'], ['a']],
    [],
  ]);
});

test('refuses a result without a call', () => {
  for (const messages of [
    [states('user'), reports('nobody')],
    [reports('a'), asks('a')],
  ])
    assert.throws(
      () => settle(...messages),
      (error) => error instanceof GatewayError && error.status === 400 && /tool_call_id/.test(error.message),
    );
});
