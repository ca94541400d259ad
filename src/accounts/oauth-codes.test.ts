import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock as clock } from '../lib/clock.ts';
import type { OauthCodeStore } from '../store/oauth-codes.ts';
import { createOauthCodes } from './oauth-codes.ts';
import { samplePrincipal } from './test-principal.ts';

test('a key that gave out too many codes is 429, and keeps no other from giving out theirs', async () => {
  const busy = samplePrincipal();
  const nobodyAsks = (): never => assert.fail('nobody asks');
  const store: OauthCodeStore = {
    countOpen: (issuerKeyHash) => Promise.resolve(issuerKeyHash === busy.keyHash ? 1_000 : 0),
    insert: () => Promise.resolve(true),
    find: nobodyAsks,
    use: nobodyAsks,
  };
  const codes = createOauthCodes({
    store,
    keys: { create: nobodyAsks },
    issuers: { refusalOf: () => Promise.resolve(undefined) },
    clock,
    workspaceOf: nobodyAsks,
  });
  const wish = { callbackUrl: 'https://app.example/done', limitNanoUsd: null, limitReset: null, keyExpiresAtMs: null };
  await assert.rejects(codes.issue(busy, wish), { status: 429, message: /1000 codes/ });
  assert.match((await codes.issue({ ...busy, keyHash: 'f'.repeat(64) }, wish)).code, /^\w{43}$/);
});
