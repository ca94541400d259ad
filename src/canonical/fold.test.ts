import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationEvent } from './events.ts';
import { createFold, foldEvents } from './fold.ts';

const start: GenerationEvent = { type: 'start', format: 'chat', id: 'u1', model: 'm' };

test('deltas add up to their block, however tool calls interleave', () => {
  const response = foldEvents([
    start,
    { type: 'block-start', index: 0, block: { type: 'text', text: '' } },
    { type: 'block-delta', index: 0, text: 'a' },
    { type: 'block-delta', index: 0, text: 'b' },
    { type: 'block-end', index: 0 },
    { type: 'block-start', index: 1, block: { type: 'tool-call', id: 'x', name: 'f', input: '', runBy: 'caller' } },
    { type: 'block-start', index: 2, block: { type: 'tool-call', id: 'y', name: 'g', input: '', runBy: 'caller' } },
    { type: 'block-delta', index: 1, text: '{"n":' },
    { type: 'block-delta', index: 2, text: '{}' },
    { type: 'block-delta', index: 1, text: '1.0}' },
  ]);
  assert.equal(response.id, 'u1');
  assert.deepEqual(response.blocks, [
    { type: 'text', text: 'ab' },
    { type: 'tool-call', id: 'x', name: 'f', input: '{"n":1.0}', runBy: 'caller' },
    { type: 'tool-call', id: 'y', name: 'g', input: '{}', runBy: 'caller' },
  ]);
});

test('makes a legal block of a signature and an empty reasoning text', () => {
  const { blocks } = foldEvents([
    start,
    { type: 'block-start', index: 0, block: { type: 'reasoning', form: 'text', text: '' } },
    { type: 'block-delta', index: 0, signature: 'si' },
    { type: 'block-delta', index: 0, signature: 'g' },
  ]);
  assert.deepEqual(blocks, [{ type: 'reasoning', form: 'text', text: '', signature: 'sig' }]);
});

test('replaces earlier usage with the latest', () => {
  const usage = (completionTokens: number) => ({
    promptTokens: 5,
    completionTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    estimated: false,
  });
  assert.equal(
    foldEvents([start, { type: 'usage', usage: usage(1) }, { type: 'usage', usage: usage(7) }]).usage?.completionTokens,
    7,
  );
});

test('log probabilities of several deltas are joined', () => {
  const extra = (token: string) => ({ format: 'chat' as const, fields: { logprobs: { content: [{ token }] } } });
  const { blocks } = foldEvents([
    start,
    { type: 'block-start', index: 0, block: { type: 'text', text: '' } },
    { type: 'block-delta', index: 0, text: 'a', extra: extra('a') },
    { type: 'block-delta', index: 0, text: 'b', extra: extra('b') },
  ]);
  assert.deepEqual(blocks[0]?.extra?.fields, { logprobs: { content: [{ token: 'a' }, { token: 'b' }] } });
});

test('gives the response before it has ended, and again after', () => {
  const fold = createFold();
  fold.push([start, { type: 'block-start', index: 0, block: { type: 'text', text: 'a' } }]);
  assert.deepEqual(fold.response().blocks, [{ type: 'text', text: 'a' }]);
  fold.push([{ type: 'block-delta', index: 0, text: 'b' }]);
  assert.deepEqual(fold.response().blocks, [{ type: 'text', text: 'ab' }]);
});

test('throws on a delta for a block that never started', () => {
  assert.throws(() => foldEvents([start, { type: 'block-delta', index: 3, text: 'x' }]), /Broken assumption/);
});
