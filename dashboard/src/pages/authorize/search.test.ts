import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemOfCallback } from './search.ts';

test('sends a key to https and to the own machine alone', () => {
  for (const good of [
    'https://editor.example/back',
    'http://localhost:7777/',
    'http://127.0.0.1/cb',
    'http://[::1]:1/',
  ])
    assert.equal(problemOfCallback(good), undefined, good);
  for (const bad of [
    'http://editor.example/',
    'javascript:alert(1)',
    'ftp://x/',
    'no address',
    'http://localhost.evil.example/',
  ])
    assert.notEqual(problemOfCallback(bad), undefined, bad);
});
