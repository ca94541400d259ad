import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReasoningSettings } from '../canonical/request.ts';
import type { Model } from '../catalog/model.ts';
import { settleSilence, type SilenceQuestion } from './must-reason.ts';
import { sampleRecord } from './test-record.ts';

const model = (reasoning: NonNullable<Model['reasoning']>): Model => ({
  slug: 'acme/one',
  name: 'One',
  endpoints: [],
  reasoning,
});
const ALWAYS = model({ mandatory: true, supportedEfforts: ['high', 'low', 'medium'] });

function settle(
  reasoning: ReasoningSettings,
  question: Partial<SilenceQuestion>,
  format: 'chat' | 'messages' = 'chat',
): ReasoningSettings | undefined {
  const request = { ...sampleRecord().request, format, settings: { reasoning } };
  return settleSilence(request, { model: ALWAYS, isNamed: false, spoken: 'chat', ...question }).settings.reasoning;
}

test('who did not name the model gets its lowest effort, and keeps whatever else was said', () => {
  assert.deepEqual(settle({ enabled: false, exclude: true }, {}), { effort: 'low', exclude: true });
  assert.deepEqual(settle({ maxTokens: 0 }, {}), { effort: 'low' });
});

test('nothing is made up where nobody knows the efforts', () => {
  const unknown = model({ mandatory: true });
  assert.deepEqual(settle({ effort: 'none' }, { model: unknown }), { effort: 'none' });
});

test('a model that may be silent is told so, and one that was asked to reason does', () => {
  assert.deepEqual(settle({ effort: 'none' }, { model: model({}), isNamed: true }), { effort: 'none' });
  assert.deepEqual(settle({ effort: 'high' }, { isNamed: true }), { effort: 'high' });
});

test("a vendor that is spoken to in the caller's own format answers for itself", () => {
  assert.deepEqual(settle({ enabled: false }, { isNamed: true, spoken: 'messages' }, 'messages'), { enabled: false });
  assert.throws(() => settle({ enabled: false }, { isNamed: true }, 'messages'), /^GatewayError: thinking: must not/);
});
