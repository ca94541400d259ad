import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReasoningSettings } from '../../canonical/request.ts';
import type { Model } from '../../catalog/model.ts';
import { settleSilence, type SilenceInput } from './must-reason.ts';
import { sampleRequest } from '../../../tests/support/settled-record.ts';

const model = (reasoning: NonNullable<Model['reasoning']>): Model => ({
  slug: 'acme/one',
  name: 'One',
  endpoints: [],
  reasoning,
});
const ALWAYS = model({ mandatory: true, supportedEfforts: ['high', 'low', 'medium'] });

function settle(
  reasoning: ReasoningSettings,
  input: Partial<SilenceInput>,
  format: 'chat' | 'messages' = 'chat',
): ReasoningSettings | undefined {
  const request = { ...sampleRequest, format, settings: { reasoning } };
  return settleSilence(request, { model: ALWAYS, isNamed: false, spoken: 'chat', ...input }).settings.reasoning;
}

test('sets the lowest effort of a model that the caller did not name, and keeps the other settings', () => {
  assert.deepEqual(settle({ enabled: false, exclude: true }, {}), { effort: 'low', exclude: true });
  assert.deepEqual(settle({ maxTokens: 0 }, {}), { effort: 'low' });
});

test('sets nothing where the efforts of the model are unknown', () => {
  const unknown = model({ mandatory: true });
  assert.deepEqual(settle({ effort: 'none' }, { model: unknown }), { effort: 'none' });
});

test('turns reasoning off for a model that may be silent, and on where the request asks for it', () => {
  assert.deepEqual(settle({ effort: 'none' }, { model: model({}), isNamed: true }), { effort: 'none' });
  assert.deepEqual(settle({ effort: 'high' }, { isNamed: true }), { effort: 'high' });
});

test("lets a vendor answer for itself in the caller's own format", () => {
  assert.deepEqual(settle({ enabled: false }, { isNamed: true, spoken: 'messages' }, 'messages'), { enabled: false });
  assert.throws(() => settle({ enabled: false }, { isNamed: true }, 'messages'), /^GatewayError: thinking: must not/);
});
