import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPromptCache } from './prompt-cache.ts';
import type { Segment } from './prompt.ts';

function segment(text: string, tokens: number, cache?: Segment['cache']): Segment {
  return { place: 'user:text', text, tokens, ...(cache !== undefined && { cache }) };
}

const SYSTEM = segment('instructions', 100, '5m');

test('writes a marked prefix once and reads it afterwards', () => {
  const cache = createPromptCache();
  const prompt = [SYSTEM, segment('question', 7)];
  assert.deepEqual(cache.use('a', prompt), { readTokens: 0, writtenTokens: 100, written1hTokens: 0 });
  for (let call = 0; call < 2; call++)
    assert.deepEqual(cache.use('a', prompt), { readTokens: 100, writtenTokens: 0, written1hTokens: 0 });
});

test('neither reads nor writes a prompt without a mark', () => {
  const cache = createPromptCache();
  cache.use('a', [SYSTEM]);
  const unmarked = { place: SYSTEM.place, text: SYSTEM.text, tokens: SYSTEM.tokens };
  assert.deepEqual(cache.use('a', [unmarked]), { readTokens: 0, writtenTokens: 0, written1hTokens: 0 });
});

test('reads the written part and writes the rest when the mark moves on', () => {
  const cache = createPromptCache();
  cache.use('a', [SYSTEM, segment('one', 10)]);
  const longer = [SYSTEM, segment('one', 10), segment('two', 20, '5m')];
  assert.deepEqual(cache.use('a', longer), { readTokens: 100, writtenTokens: 30, written1hTokens: 0 });
});

test('counts prefixes that live an hour separately', () => {
  const cache = createPromptCache();
  const prompt = [segment('tools', 40, '1h'), segment('system', 60, '1h'), segment('question', 5, '5m')];
  assert.deepEqual(cache.use('a', prompt), { readTokens: 0, writtenTokens: 105, written1hTokens: 100 });
});

test('misses a prefix after one changed letter before the mark', () => {
  const cache = createPromptCache();
  cache.use('a', [SYSTEM]);
  assert.equal(cache.use('a', [segment('Instructions', 100, '5m')]).readTokens, 0);
  assert.equal(cache.use('a', [{ ...SYSTEM, place: 'system' }]).readTokens, 0);
});

test('hides the prefix from another account', () => {
  const cache = createPromptCache();
  cache.use('a', [SYSTEM]);
  assert.equal(cache.use('b', [SYSTEM]).readTokens, 0);
});

test('forgets the prefix that was unused for longest', () => {
  const cache = createPromptCache();
  cache.use('a', [segment('old', 1, '5m')]);
  cache.use('a', [segment('kept', 1, '5m')]);
  for (let count = 0; count < 9_999; count++) {
    if (count === 5_000) cache.use('a', [segment('kept', 1, '5m')]);
    cache.use('a', [segment(`filler ${count}`, 1, '5m')]);
  }
  assert.equal(cache.use('a', [segment('kept', 1, '5m')]).readTokens, 1);
  assert.equal(cache.use('a', [segment('old', 1, '5m')]).readTokens, 0);
});
