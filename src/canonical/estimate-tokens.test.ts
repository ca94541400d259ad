import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block } from './blocks.ts';
import { estimateResponseTokens, estimateRequestTokens, estimateTokens } from './estimate-tokens.ts';
import type { GenerationRequest } from './request.ts';
import { plainDirectives } from '../../tests/support/plain-directives.ts';

function request(blocks: readonly Block[], more: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [{ role: 'user', blocks }],
    tools: [],
    settings: {},
    directives: plainDirectives(),
    warnings: [],
    ...more,
  };
}

test('prose is right to about a quarter, in English and in Chinese', () => {
  const english = 'The quick brown fox jumps over the lazy dog, and then it rests in the shade of a tree. ';
  // 20 words and punctuation: 21 tokens by the o200k tokenizer.
  assert.ok(Math.abs(estimateTokens(english) - 21) <= 5, String(estimateTokens(english)));
  const chinese = '今天天气很好,我们去公园散步吧。';
  // 11 to 14 tokens by current tokenizers.
  assert.ok(Math.abs(estimateTokens(chinese) - 12) <= 4, String(estimateTokens(chinese)));
  assert.equal(estimateTokens(''), 0);
  assert.equal(estimateResponseTokens(0), 0);
  assert.equal(estimateResponseTokens(400), 100);
});

test('counts every kind of block', () => {
  const empty = estimateRequestTokens(request([]));
  const words = 'w'.repeat(400);
  const blocks: readonly Block[] = [
    { type: 'text', text: words },
    { type: 'refusal', text: words },
    { type: 'reasoning', form: 'text', text: words },
    { type: 'tool-call', id: 'a', name: 'f', input: `{"a":"${words}"}`, runBy: 'caller' },
    { type: 'tool-result', callId: 'a', content: [{ type: 'text', text: words }] },
    { type: 'opaque', format: 'messages', value: { type: 'x', words } },
    { type: 'media', media: 'document', source: { type: 'text', mediaType: 'text/plain', text: words } },
    { type: 'media', media: 'document', source: { type: 'blocks', blocks: [{ type: 'text', text: words }] } },
    { type: 'media', media: 'image', source: { type: 'url', url: 'https://e.com/a.png' } },
    { type: 'media', media: 'document', source: { type: 'file', fileId: 'f' } },
    { type: 'media', media: 'audio', source: { type: 'base64', mediaType: 'audio/wav', data: 'A'.repeat(100_000) } },
    { type: 'media', media: 'video', source: { type: 'url', url: 'https://e.com/a.mp4' } },
  ];
  for (const block of blocks) assert.ok(estimateRequestTokens(request([block])) >= empty + 100, block.type);
});

test('tools and the wanted schema count', () => {
  const parameters = { type: 'object', properties: { a: { type: 'string', description: 'd'.repeat(400) } } };
  const bare = estimateRequestTokens(request([]));
  const tooled = request([], { tools: [{ type: 'function', name: 'f', parameters }] });
  const shaped = request([], { settings: { responseFormat: { type: 'json_schema', schema: parameters } } });
  assert.ok(estimateRequestTokens(tooled) > bare + 100);
  assert.ok(estimateRequestTokens(shaped) > bare + 100);
});
