import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { GatewayError, type ErrorType } from '../../canonical/gateway-error.ts';
import { isJsonObject, type Json } from '../../lib/json.ts';
import type { Reply } from './call-model.ts';
import { allFailed, recall } from './outcome.ts';

const failing = (type: ErrorType): Reply => ({
  model: 'a/one',
  text: '',
  reasoning: '',
  sources: [],
  error: new GatewayError(type, 'no'),
  elapsedMs: 1,
  usage: undefined,
  costNanoUsd: 0,
});
const LIVE = new AbortController().signal;

function reasonOf(result: Json): Json | undefined {
  assert.ok(isJsonObject(result));
  return result['failure_reason'];
}

suite('a panel without any answer', () => {
  const REASONS: readonly (readonly [readonly ErrorType[], string])[] = [
    [['payment_required', 'payment_required'], 'insufficient_credits'],
    [['rate_limit_exceeded'], 'rate_limited'],
    [['not_found', 'not_found'], 'invalid_model'],
    [['server'], 'unexpected_error'],
    [['provider_unavailable', 'timeout'], 'all_panels_failed'],
    [['payment_required', 'rate_limit_exceeded'], 'all_panels_failed'],
  ];
  for (const [types, reason] of REASONS)
    // @spec fusion-12
    test(`says ${reason} after ${types.join(' and ')}`, () => {
      assert.equal(reasonOf(allFailed(types.map(failing), LIVE).result), reason);
    });

  test('says insufficient_credits where a budget over the caller is used up, which is 403, as where its own limit is', () => {
    const budget = new GatewayError('permission_denied', 'no', { lacksFunds: true });
    const members = [{ ...failing('server'), error: budget }, failing('payment_required')];
    assert.equal(reasonOf(allFailed(members, LIVE).result), 'insufficient_credits');
    const filter = { ...failing('server'), error: new GatewayError('permission_denied', 'no') };
    assert.equal(reasonOf(allFailed([filter], LIVE).result), 'all_panels_failed');
  });

  test('is cancelled when the caller has gone', () => {
    assert.equal(reasonOf(allFailed([failing('server')], AbortSignal.abort()).result), 'cancelled');
  });

  test('lists members with empty answers', () => {
    const { error: _none, ...silent } = failing('server');
    const { result } = allFailed([silent], LIVE);
    assert.match(JSON.stringify(result), /"failed_models":\[\{"model":"a\/one","error":"It gave no text\."\}\]/);
  });
});

suite('a result that comes back with the conversation', () => {
  const resultOf = (chars: number): string =>
    JSON.stringify({ status: 'ok', responses: [{ model: 'a/one', content: 'x'.repeat(chars) }], sources: [] });

  test('is read as it stands, to the letter', () => {
    for (const text of [resultOf(10_000).replace('"ok"', '"ok" '), '{"status":"error"}', 'no JSON'])
      assert.equal(recall(text), text);
  });

  test('is cut where it is too long for most models', () => {
    const read = recall(resultOf(400_000));
    assert.ok(read.length < 200_000);
    assert.match(read, /^\{"status":"ok","responses":.*"sources":\[\]\}$/s);
  });
});
