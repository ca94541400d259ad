import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { PATHS } from '../support/upstreams/all-upstreams.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatAnswer, json } from '../support/upstream.ts';

const ASK = { model: 'acme/first', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
const good = json(200, chatAnswer('well'));

interface Refusal {
  readonly error: {
    readonly availability?: {
      readonly code: string;
      readonly retryable: boolean;
      readonly requested_models: readonly string[];
      readonly docs_url: string;
      readonly affected_providers?: readonly string[];
      readonly excluded_by?: readonly string[];
      readonly retry_after?: number;
    };
  };
}

/** What the request says, the response of the upstream, and what the caller gets. */
const CASES: readonly (readonly [
  asks: object,
  upstream: number,
  status: number,
  code: string,
  retryable: boolean,
  excludedBy?: readonly string[],
])[] = [
  [{ model: 'acme/nobody' }, 200, 404, 'model_not_found', false],
  [{ provider: { zdr: true } }, 200, 404, 'privacy_restricted', false, ['data_policy:zdr']],
  [{ provider: { data_collection: 'deny' } }, 200, 404, 'privacy_restricted', false, ['data_policy:training']],
  [{ provider: { max_price: { prompt: 0.5 } } }, 200, 404, 'constraint_filtered', false, ['max_price']],
  [{ provider: { quantizations: ['fp8'] } }, 200, 404, 'constraint_filtered', false, ['quantization']],
  [{ provider: { only: ['second'] } }, 200, 404, 'constraint_filtered', false, ['allowed_providers']],
  [{}, 404, 404, 'model_unavailable_upstream', true],
  [{}, 429, 429, 'capacity_exhausted', true],
  [{}, 529, 529, 'temporarily_unavailable', true],
  [{}, 451, 403, 'region_restricted', false],
];

suite('error.availability', () => {
  for (const [asks, upstream, status, code, retryable, excludedBy] of CASES)
    for (const path of Object.values(PATHS))
      // @spec error-21, error-22, error-23, error-24
      test(`is ${code} for ${JSON.stringify(asks)} and an upstream's ${upstream}, ${path}`, async (t) => {
        const first = upstream === 200 ? good : json(upstream, { error: { message: 'as it is' } });
        const { gateway } = await startTwoProviders(t, { first });
        const response = await gateway.post(path, { ...ASK, ...asks });
        const { availability } = ((await response.json()) as Refusal).error;
        assert.ok(availability !== undefined);
        assert.deepEqual([response.status, availability.code, availability.retryable], [status, code, retryable]);
        assert.deepEqual(availability.excluded_by, excludedBy);
        assert.deepEqual(availability.requested_models, [{ ...ASK, ...asks }.model]);
        assert.deepEqual(availability.affected_providers, upstream === 200 ? undefined : ['first']);
        const { pathname, hash } = new URL(availability.docs_url);
        assert.equal(hash, `#${code}`);
        const page = await fetch(gateway.url + pathname);
        assert.equal(page.status, 200);
        assert.ok((await page.text()).includes(code));
      });

  // @spec error-21, error-23
  test('is temporarily_unavailable with the time to wait where every provider rests', async (t) => {
    const { gateway } = await startTwoProviders(t, { first: json(429, {}, { 'retry-after': '60' }) });
    assert.equal((await gateway.post('/chat/completions', ASK)).status, 429);
    const response = await gateway.post('/chat/completions', ASK);
    const { availability } = ((await response.json()) as Refusal).error;
    assert.ok(availability?.retry_after !== undefined);
    assert.deepEqual([response.status, availability.code], [503, 'temporarily_unavailable']);
    assert.ok(availability.retry_after > 50 && availability.retry_after <= 60, `${availability.retry_after}`);
    assert.equal(response.headers.get('retry-after'), `${availability.retry_after}`);
  });
});
