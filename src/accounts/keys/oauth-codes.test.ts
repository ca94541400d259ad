import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import type { OauthCodeStore } from '../../store/accounts/oauth-codes.ts';
import { createOauthCodes } from './oauth-codes.ts';
import { samplePrincipal } from '../../../tests/support/principal.ts';

test('answers 429 for a key with too many open codes, and lets other keys issue codes', async () => {
  const busy = samplePrincipal();
  const neverCalled = (): never => assert.fail('is not called');
  const store: OauthCodeStore = {
    countOpen: (issuerKeyHash) => Promise.resolve(issuerKeyHash === busy.keyHash ? 1_000 : 0),
    insert: () => Promise.resolve(true),
    find: neverCalled,
    use: neverCalled,
  };
  const codes = createOauthCodes({
    store,
    keys: { create: neverCalled },
    issuers: { refusalOf: () => Promise.resolve(undefined), rootOf: () => Promise.resolve(null) },
    clock,
    workspaceOf: neverCalled,
  });
  const input = { callbackUrl: 'https://app.example/done', limitNanoUsd: null, limitReset: null, keyExpiresAtMs: null };
  await assert.rejects(codes.issue(busy, input), { status: 429, message: /1000 codes/ });
  assert.match((await codes.issue({ ...busy, keyHash: 'f'.repeat(64) }, input)).code, /^\w{43}$/);
});
