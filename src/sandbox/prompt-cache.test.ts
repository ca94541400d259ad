import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPromptCache } from './prompt-cache.ts';
import type { Segment } from './prompt.ts';

function segment(text: string, tokens: number, cache?: Segment['cache']): Segment {
  return { place: 'user:text', text, tokens, ...(cache !== undefined && { cache }) };
}

const SYSTEM = segment('instructions', 100, '5m');

test('a marked prefix is written once and read afterwards', () => {
  const cache = createPromptCache();
  const prompt = [SYSTEM, segment('question', 7)];
  assert.deepEqual(cache.use('a', prompt), { readTokens: 0, writtenTokens: 100, written1hTokens: 0 });
  for (let call = 0; call < 2; call++)
    assert.deepEqual(cache.use('a', prompt), { readTokens: 100, writtenTokens: 0, written1hTokens: 0 });
});

test('a prompt without a mark neither reads nor writes', () => {
  const cache = createPromptCache();
  cache.use('a', [SYSTEM]);
  const unmarked = { place: SYSTEM.place, text: SYSTEM.text, tokens: SYSTEM.tokens };
  assert.deepEqual(cache.use('a', [unmarked]), { readTokens: 0, writtenTokens: 0, written1hTokens: 0 });
});

test('a mark that moves on reads what was written and writes the rest', () => {
  const cache = createPromptCache();
  cache.use('a', [SYSTEM, segment('one', 10)]);
  const longer = [SYSTEM, segment('one', 10), segment('two', 20, '5m')];
  assert.deepEqual(cache.use('a', longer), { readTokens: 100, writtenTokens: 30, written1hTokens: 0 });
});

test('what lives an hour is counted apart', () => {
  const cache = createPromptCache();
  const prompt = [segment('tools', 40, '1h'), segment('system', 60, '1h'), segment('question', 5, '5m')];
  assert.deepEqual(cache.use('a', prompt), { readTokens: 0, writtenTokens: 105, written1hTokens: 100 });
});

test('one changed letter before the mark spoils the prefix', () => {
  const cache = createPromptCache();
  cache.use('a', [SYSTEM]);
  assert.equal(cache.use('a', [segment('Instructions', 100, '5m')]).readTokens, 0);
  assert.equal(cache.use('a', [{ ...SYSTEM, place: 'system' }]).readTokens, 0);
});

test('another account does not read it', () => {
  const cache = createPromptCache();
  cache.use('a', [SYSTEM]);
  assert.equal(cache.use('b', [SYSTEM]).readTokens, 0);
});

test('the cache forgets the prefix that was used longest ago', () => {
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
