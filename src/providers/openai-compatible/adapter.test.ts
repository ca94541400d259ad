import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpenAiCompatibleAdapter, openAiCompatibleAdapter } from './adapter.ts';

test('uses the plainest dialect unless facts say more', () => {
  assert.deepEqual(openAiCompatibleAdapter.dialect({ format: 'chat', model: 'm' }), {});
  const dialect = { reasoningMember: 'reasoning_content' } as const;
  const adapter = createOpenAiCompatibleAdapter({ id: 'x', name: 'X', dialect });
  assert.equal(adapter.dialect({ format: 'chat', model: 'm' }), dialect);
});

test('members of the facts are added to a body, in front of its own', () => {
  const adapter = createOpenAiCompatibleAdapter({ id: 'x', name: 'X', body: { reasoning_split: true } });
  const timeouts = { connectMs: 1, headersMs: 1, firstTokenMs: 1, idleMs: 1, wholeMs: 1 };
  const settings = { slug: 'x', name: 'X', baseUrl: 'http://127.0.0.1:1/v1', headers: {}, timeouts };
  const context = { format: 'chat', settings, model: 'm', stream: false } as const;
  assert.deepEqual(adapter.adjust?.({ model: 'm' }, context), { reasoning_split: true, model: 'm' });
  assert.equal('adjust' in openAiCompatibleAdapter, false);
});

for (const [name, status, error, expected] of [
  ['a spent quota by its type', 429, { type: 'exceeded_current_quota_error' }, 'provider_unavailable'],
  ['an account in arrears', 400, { code: 'Arrearage' }, 'provider_unavailable'],
  [
    'a balance that is spent',
    429,
    { code: '1113', message: 'Insufficient balance or no resource package.' },
    'provider_unavailable',
  ],
  [
    'a team without credits',
    403,
    { message: "Your newly created team doesn't have any credits yet." },
    'provider_unavailable',
  ],
  [
    'a spending limit',
    429,
    { message: 'Your team has either used all available credits or reached its monthly spending limit.' },
    'provider_unavailable',
  ],
  ['an unreadable call of the model', 400, { code: 'tool_use_failed' }, 'provider_unavailable'],
  ['an overloaded engine', 429, { type: 'engine_overloaded_error' }, 'provider_overloaded'],
  [
    'a 403 about the context length',
    403,
    { message: 'Input token count + max_tokens parameter must be less than the context length' },
    'context_length_exceeded',
  ],
  ['an ordinary rate limit', 429, { code: 'rate_limit_exceeded' }, undefined],
  ['an ordinary 403', 403, { message: 'forbidden' }, undefined],
] as const) {
  test(`classifies ${name} as ${expected ?? 'what its status says'}`, () => {
    assert.equal(openAiCompatibleAdapter.classify?.({ status, error })?.errorType, expected);
  });
}
