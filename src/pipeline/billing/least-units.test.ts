import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_USAGE } from '../../canonical/usage.ts';
import { atLeast } from './least-units.ts';

// @spec stt-9
test('charges a short sound as the least that its endpoint charges', () => {
  const heard = (audioMs: number) => ({ ...NO_USAGE, estimated: false, units: { audioMs } });
  const endpoint = { transcription: { minSeconds: 10 } };
  assert.equal(atLeast(heard(4_000), endpoint).units?.audioMs, 10_000);
  assert.equal(atLeast(heard(14_000), endpoint).units?.audioMs, 14_000);
  assert.equal(atLeast(heard(4_000), {}).units?.audioMs, 4_000);
  const spoken = { ...NO_USAGE, estimated: false, units: { characters: 5 } };
  assert.deepEqual(atLeast(spoken, endpoint), spoken);
});
