import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecretBox, newSecretText, secretFrom, secretIdOf, SecretBoxError } from './secret-box.ts';

const first = secretFrom('the first secret of the test');
const second = secretFrom('the second secret of the test');
const TEXT = 'sk-canary-0123456789 ünïcode';

test('opens a sealed text for the same purpose, and reveals nothing of it', () => {
  const box = createSecretBox([first]);
  const sealed = box.seal(TEXT, 'byok:1:acme');
  assert.equal(box.open(sealed, 'byok:1:acme'), TEXT);
  assert.ok(!sealed.includes('canary'));
  assert.equal(secretIdOf(sealed), first.id);
});

test('never seals the same text the same way twice', () => {
  const box = createSecretBox([first]);
  assert.notEqual(box.seal(TEXT, 'a'), box.seal(TEXT, 'a'));
});

// @spec byok-16
test('does not open a text that was moved to another row or provider', () => {
  const box = createSecretBox([first]);
  assert.throws(() => box.open(box.seal(TEXT, 'byok:1:acme'), 'byok:2:acme'), SecretBoxError);
});

test('notices every changed byte', () => {
  const box = createSecretBox([first]);
  const [version, id, body = ''] = box.seal('short', 'a').split('.');
  const bytes = Buffer.from(body, 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    assert.throws(() => box.open([version, id, changed.toString('base64url')].join('.'), 'a'), SecretBoxError);
  }
  for (const odd of ['', 'v1', 'v1.x', `v1.${id}.`, `v1.${id}.AAAA`, `v2.${id}.${body}`, `v1.${id}.${body}.more`])
    assert.throws(() => box.open(odd, 'a'), SecretBoxError, odd);
});

test('opens with an older secret, and seals with the newest', () => {
  const sealed = createSecretBox([first]).seal(TEXT, 'a');
  const rotated = createSecretBox([second, first]);
  assert.equal(rotated.open(sealed, 'a'), TEXT);
  assert.equal(secretIdOf(rotated.seal(TEXT, 'a')), second.id);
  assert.throws(() => createSecretBox([second]).open(sealed, 'a'), /is not here/);
});

test('derives the same id for the same secret, without revealing its key', () => {
  assert.equal(secretFrom('the first secret of the test').id, first.id);
  assert.ok(!Buffer.from(first.key).toString('hex').includes(first.id));
  assert.notEqual(newSecretText(), newSecretText());
});
