import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etagOf, hasAlready } from './etag.ts';

test('gives equal responses the same tag, and others another one', () => {
  assert.equal(etagOf('{"data":[]}'), etagOf('{"data":[]}'));
  assert.notEqual(etagOf('{"data":[]}'), etagOf('{"data":[1]}'));
  assert.match(etagOf(''), /^"[\w-]{22}"$/);
});

test('matches any tag of a client, weak or strong, and the star', () => {
  const tag = etagOf('x');
  for (const known of [tag, `W/${tag}`, '*', `"other", ${tag}`, `"other",W/${tag} `])
    assert.ok(hasAlready({ 'if-none-match': known }, tag), known);
  for (const known of ['', '"other"', tag.slice(1, -1), undefined])
    assert.ok(!hasAlready(known === undefined ? {} : { 'if-none-match': known }, tag), known);
});
