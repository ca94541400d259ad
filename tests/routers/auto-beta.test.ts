import assert from 'node:assert/strict';
import { test } from 'node:test';
import { at, CODE, startRouted } from '../support/routers/three-models.ts';

const WIDE = [{ id: 'auto-beta-router', cost_quality_tradeoff: 0 }];
/** Close in price, far in what they can. */
const MODELS = `
  acme/plain:
    name: Plain
    scores: { coding: 0.5, intelligence: 0.55 }
    endpoints: [{ provider: alpha, model: plain-1, price: { prompt: 0.1, completion: 0.1 } }]
  acme/good:
    name: Good
    scores: { coding: 0.75, intelligence: 0.8 }
    endpoints: [{ provider: alpha, model: good-1, price: { prompt: 0.4, completion: 0.4 } }]
  acme/top:
    name: Top
    scores: { coding: 0.9, intelligence: 0.9 }
    endpoints: [{ provider: alpha, model: top-1, price: { prompt: 0.6, completion: 0.6 } }]
`;

// @spec router-19
test('sends easy requests to a cheap model and hard ones to a better one, within the same band', async (t) => {
  const { post } = await startRouted(t, { models: MODELS });
  const ask = async (content: string): Promise<unknown> =>
    (await post({ model: 'service/auto-beta', messages: [{ role: 'user', content }], plugins: WIDE })).body['model'];
  assert.equal(await ask('hi'), 'acme/plain');
  const hard =
    'Find the root cause of this deadlock in our distributed lock and prove that your fix is thread-safe under every interleaving.\nTraceback (most recent call last):\n  File "lock.py", line 3\nTimeoutError: lost';
  assert.equal(await ask(hard), 'acme/good');
});

test('keeps to a cost tier, whatever the difficulty', async (t) => {
  const { post } = await startRouted(t, { models: MODELS });
  const plugins = [{ id: 'auto-beta-router', cost_tier: 'max' }];
  const { body } = await post({ model: 'service/auto-beta', messages: [{ role: 'user', content: 'hi' }], plugins });
  assert.equal(body['model'], 'acme/top');
});

test('explains both strategies over the same models, for comparison', async (t) => {
  const { post } = await startRouted(t, { models: MODELS });
  const explain = async (model: string) =>
    at((await post({ model, messages: CODE, plugins: WIDE }, '/route/explain')).body, 'routers', 0);
  const [first, second] = [await explain('service/auto'), await explain('service/auto-beta')];
  assert.equal(at(first, 'task_type'), at(second, 'task_type'));
  assert.equal(at(first, 'compared_with'), at(second, 'compared_with'));
  assert.equal(typeof at(second, 'difficulty', 'score'), 'number');
  assert.equal(typeof at(second, 'ranking', 0, 'expected_price'), 'number');
});
