import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block } from './blocks.ts';
import { isTextOnly } from './text-only.ts';

const text: Block = { type: 'text', text: 'Hello' };
const holds = (...blocks: Block[]): boolean => isTextOnly({ turns: [{ role: 'user', blocks: [text, ...blocks] }] });

test('tells texts and calls from what may hold a file', () => {
  assert.equal(holds(), true);
  assert.equal(holds({ type: 'tool-call', id: 'a', name: 'b', input: '{}', runBy: 'caller' }), true);
  assert.equal(holds({ type: 'media', media: 'image', source: { type: 'url', url: 'https://x/a' } }), false);
  assert.equal(holds({ type: 'tool-result', callId: 'a', content: [] }), false);
  assert.equal(holds({ type: 'opaque', format: 'messages', value: { type: 'container_upload' } }), false);
});
