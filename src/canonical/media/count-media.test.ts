import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MediaBlock } from '../blocks.ts';
import { countPromptMedia } from './count-media.ts';

const media = (kind: MediaBlock['media']): MediaBlock => ({
  type: 'media',
  media: kind,
  source: { type: 'url', url: 'https://files.example/one' },
});

test('media of the caller count, those in results of tools too, and what the model made does not', () => {
  const turns = [
    { role: 'user', blocks: [media('image'), media('audio'), { type: 'text', text: 'x' }] },
    { role: 'assistant', blocks: [media('image')] },
    { role: 'tool', blocks: [{ type: 'tool-result', callId: 'a', content: [media('document'), media('audio')] }] },
  ] as const;
  assert.deepEqual(countPromptMedia({ turns }), { all: 4, audio: 2 });
  assert.deepEqual(countPromptMedia({ turns: [] }), { all: 0, audio: 0 });
});
