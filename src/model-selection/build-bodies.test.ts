import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readBodies, writeBodies } from './build-bodies.ts';

const MODELS = [
  { slug: 'anthropic/claude-opus-5', name: 'Anthropic: Claude Opus 5', family: 'claude-opus', released: '2026-06' },
  { slug: 'anthropic/claude-opus-4', name: 'Anthropic: Claude Opus 4', family: 'claude-opus', released: '2025-06' },
  { slug: 'openai/gpt-5.5', name: 'OpenAI: GPT-5.5', family: 'gpt', released: '2026-03' },
  { slug: 'google/gemini-3.7-flash', name: 'Google: Gemini 3.7 Flash', family: 'gemini-flash', released: '2026-05' },
];
const resolve = (slug: string): string | undefined => MODELS.find((model) => model.slug === slug)?.slug;
const write = (text: string) =>
  writeBodies(text, MODELS, ['openai/gpt-5.5'], resolve).map(({ model, messages }) => [model, messages[0]?.content]);

const OPUS = 'anthropic/claude-opus-5';
const GPT = 'openai/gpt-5.5';

/** Words, and the model and prompt of each request that comes of them. */
const INPUTS: readonly (readonly [text: string, bodies: readonly (readonly [string, string])[]])[] = [
  [
    'Ask Claude Opus 5 and GPT-5.5 to count to ten',
    [
      [OPUS, 'count to ten'],
      [GPT, 'count to ten'],
    ],
  ],
  ['ask openai/gpt-5.5: what is new?', [[GPT, 'what is new?']]],
  ['Please use claude opus to write a poem', [[OPUS, 'write a poem']]],
  ['Write a poem with claude', [[OPUS, 'Write a poem']]],
  [
    'Compare "why is the sky so blue" on claude opus 4 and gemini 3.7 flash',
    [
      ['anthropic/claude-opus-4', 'why is the sky so blue'],
      ['google/gemini-3.7-flash', 'why is the sky so blue'],
    ],
  ],
  ['Why is the sky blue?', [[GPT, 'Why is the sky blue?']]],
  ['Claude Opus 5', [[OPUS, 'Claude Opus 5']]],
  ['gpt-5.5 and gpt-5.5 again: say hi', [[GPT, 'again: say hi']]],
];

for (const [text, bodies] of INPUTS) {
  test(text, () => assert.deepEqual(write(text), bodies));
}

test('words and marks in rows of any length are looked through once', () => {
  // Where each of them is tried with each of the others, this does not end.
  for (const piece of [' ', ', ', 'with ', 'the,', '.', 'models '])
    assert.deepEqual(write(`ask claude opus: hi ${piece.repeat(20_000)}x`).length, 1, JSON.stringify(piece));
  assert.deepEqual(write(`Write a poem with claude ${'and the '.repeat(20_000)}.`), [[OPUS, 'Write a poem']]);
});

test('makes requests with a known model and a message that is not empty from any text', () => {
  const word = fc.constantFrom(
    'ask',
    'claude',
    'opus',
    'GPT-5.5',
    'and',
    'to',
    ':',
    '"',
    'openai/gpt-5.5',
    'write',
    '\n',
    '...',
  );
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
      const text = words.join(' ');
      for (const [model, content] of write(text)) {
        assert.ok(model !== undefined && resolve(model) === model);
        assert.ok(content !== undefined && (content !== '' || text.trim() === ''));
      }
    }),
    { seed: 5 },
  );
});

test('takes what a model wrote only as a whole, with any text around it', () => {
  const bodies = [{ model: GPT, messages: [{ role: 'user', content: 'Hi' }] }];
  const text = JSON.stringify({ requests: bodies });
  assert.deepEqual(readBodies(`Here you are:\n\`\`\`json\n${text}\n\`\`\``, resolve), bodies);
  for (const wrong of [
    '',
    '{}',
    '{"requests": []}',
    '{"requests": "x"}',
    text.replace('gpt-5.5', 'gpt-77'),
    text.replace('"user"', '"tool"'),
    text.replace('"Hi"', '""'),
    text.slice(0, -3),
  ])
    assert.equal(readBodies(wrong, resolve), undefined, wrong);
});
