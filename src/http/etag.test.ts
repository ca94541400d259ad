import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etagOf, hasAlready } from './etag.ts';

test('the same answer has the same tag, another one another', () => {
  assert.equal(etagOf('{"data":[]}'), etagOf('{"data":[]}'));
  assert.notEqual(etagOf('{"data":[]}'), etagOf('{"data":[1]}'));
  assert.match(etagOf(''), /^"[\w-]{22}"$/);
});

test('a client has what one of its tags names, weak or strong, or whatever there is', () => {
  const tag = etagOf('x');
  for (const known of [tag, `W/${tag}`, '*', `"other", ${tag}`, `"other",W/${tag} `])
    assert.ok(hasAlready({ 'if-none-match': known }, tag), known);
  for (const known of ['', '"other"', tag.slice(1, -1), undefined])
    assert.ok(!hasAlready(known === undefined ? {} : { 'if-none-match': known }, tag), known);
});
