import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { isUuid, newGenerationId, uuidOf } from './ids.ts';

test('sorts generation ids by the millisecond of their creation', () => {
  const madeMs = [1_795_253_716_000, 1_795_253_716_001, 1_795_253_716_999, 1_795_253_717_000];
  for (let round = 0; round < 100; round++) {
    const ids = madeMs.map(newGenerationId);
    assert.deepEqual(ids.toSorted(), ids);
  }
});

test('gives two generations of one millisecond different ids', () => {
  const ids = Array.from({ length: 10_000 }, () => newGenerationId(1_795_253_716_000));
  assert.equal(new Set(ids).size, ids.length);
});

test('derives the UUID that RFC 9562 gives for a name in a namespace', () => {
  // RFC 9562, A.4.
  const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  assert.equal(uuidOf(dns, 'www.example.com'), '2ed6657d-e927-568b-95e1-2665a8aea6a2');
});

test('recognises UUIDs in lower case and nothing else', () => {
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
