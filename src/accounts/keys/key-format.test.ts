import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { hashKey, isKeyHash, labelKey, newKey } from './key-format.ts';

// @spec auth-5
test('shows the kind in a new key, with at least 32 random characters', () => {
  assert.match(newKey('normal'), /^mgw-[A-Za-z0-9]{32,}$/);
  assert.match(newKey('management'), /^mgw-mgmt-[A-Za-z0-9]{32,}$/);
  assert.equal(new Set(Array.from({ length: 1_000 }, () => newKey('normal'))).size, 1_000);
});

// @spec auth-10
test('hashes the whole key with SHA-256 in lower-case hex', () => {
  const key = newKey('normal');
  assert.equal(hashKey(key), createHash('sha256').update(key).digest('hex'));
  assert.ok(isKeyHash(hashKey(key)));
  for (const other of ['', 'a'.repeat(63), 'A'.repeat(64), `${'a'.repeat(64)}\n`]) assert.ok(!isKeyHash(other));
});

// @spec auth-11
test('shows at most seven characters of a key in its label, and none of a short one', () => {
  assert.equal(labelKey('mgw-abcdefghijklmnopqrstuvwxyz0123456789ABCD'), 'mgw-abc...ABCD');
  assert.equal(labelKey('mgw-mgmt-abcdefghijklmnopqrstuvwxyz0123456789ABCD'), 'mgw-mgmt-abc...ABCD');
  assert.equal(labelKey('an-operators-own-key-of-some-length'), 'an-...ngth');
  assert.equal(labelKey('secret'), '...');
});
