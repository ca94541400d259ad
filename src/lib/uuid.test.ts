import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { isUuid, uuidOf } from './uuid.ts';

test('a name in a namespace has the id that the standard gives it', () => {
  // RFC 9562, A.4.
  const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  assert.equal(uuidOf(dns, 'www.example.com'), '2ed6657d-e927-568b-95e1-2665a8aea6a2');
});

test('ids are recognised, other texts are not', () => {
  for (const id of [randomUUID(), uuidOf(randomUUID(), 'x'), '00000000-0000-4000-8000-000000000001'])
    assert.ok(isUuid(id), id);
  for (const text of [
    '',
    'default',
    '00000000-0000-4000-8000-00000000000',
    ` ${randomUUID()}`,
    randomUUID().toUpperCase(),
  ])
    assert.ok(!isUuid(text), text);
});
