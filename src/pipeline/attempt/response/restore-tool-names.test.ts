import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationEvent } from '../../../canonical/events.ts';
import { restoreToolNames } from './restore-tool-names.ts';

const call = (name: string): GenerationEvent => ({
  type: 'block-start',
  index: 0,
  block: { type: 'tool-call', id: 'c', name, input: '', runBy: 'caller' },
});
const rest: GenerationEvent[] = [
  { type: 'block-delta', index: 0, text: '{}' },
  { type: 'end', finish: 'tool_calls' },
];

// @spec translate-7
test("restores the caller's name of a renamed tool, and keeps others", () => {
  const names = new Map([['my_tool', 'my.tool']]);
  assert.deepEqual(restoreToolNames([call('my_tool'), ...rest], names), [call('my.tool'), ...rest]);
  assert.deepEqual(restoreToolNames([call('other')], names), [call('other')]);
});

test('passes a batch unchanged without renamed tools', () => {
  const batch = [call('my_tool')];
  assert.equal(restoreToolNames(batch, undefined), batch);
  assert.equal(restoreToolNames(batch, new Map()), batch);
});
