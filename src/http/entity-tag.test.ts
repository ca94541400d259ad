import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entityTagOf, hasAlready } from './entity-tag.ts';

test('the same answer has the same tag, another one another', () => {
  assert.equal(entityTagOf('{"data":[]}'), entityTagOf('{"data":[]}'));
  assert.notEqual(entityTagOf('{"data":[]}'), entityTagOf('{"data":[1]}'));
  assert.match(entityTagOf(''), /^"[\w-]{22}"$/);
});

test('a client has what one of its tags names, weak or strong, or whatever there is', () => {
  const tag = entityTagOf('x');
  for (const known of [tag, `W/${tag}`, '*', `"other", ${tag}`, `"other",W/${tag} `])
    assert.ok(hasAlready({ 'if-none-match': known }, tag), known);
  for (const known of ['', '"other"', tag.slice(1, -1), undefined])
    assert.ok(!hasAlready(known === undefined ? {} : { 'if-none-match': known }, tag), known);
});
