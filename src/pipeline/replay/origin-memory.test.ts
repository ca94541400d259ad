import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Block, ReasoningBlock } from '../../canonical/blocks.ts';
import type { GenerationEvent } from '../../canonical/events.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { createOriginMemory } from './origin-memory.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';

const sealed = (text: string, family: ReasoningBlock['family'] = 'openai-responses-v1'): ReasoningBlock => ({
  type: 'reasoning',
  form: 'encrypted',
  text,
  ...(family !== undefined && { family }),
});
const stated: Block = { type: 'text', text: 'Done.' };

function asking(...answers: readonly (readonly Block[])[]): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: answers.flatMap((blocks) => [
      { role: 'user', blocks: [{ type: 'text', text: 'Go on.' }] },
      { role: 'assistant', blocks },
    ]),
    tools: [],
    settings: {},
    directives: plainDirectives('acme/one'),
    warnings: [],
  };
}

/** A block, its text in pieces of this many characters. */
function eventsOf(block: ReasoningBlock, size: number): readonly GenerationEvent[] {
  const pieces = block.text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
  return [
    { type: 'block-start', index: 0, block: { ...block, text: '' } },
    ...pieces.map((text) => ({ type: 'block-delta', index: 0, text }) as const),
    { type: 'block-end', index: 0 },
  ];
}

function createMemory(): ReturnType<typeof createOriginMemory> {
  return createOriginMemory({ clock: { nowMs: () => 0, monotonicMs: () => 0 } });
}

suite('encrypted reasoning', () => {
  test('pins the provider that made the latest of it', () => {
    const memory = createMemory();
    memory.listen({ provider: 'one', scope: 'scope' })([
      { type: 'block-start', index: 0, block: sealed('Zmlyc3Q=') },
      { type: 'block-end', index: 0 },
    ]);
    memory.listen({ provider: 'two', scope: 'scope' })(eventsOf(sealed('c2Vjb25k'), 3));
    const [first, second] = [
      [sealed('Zmlyc3Q='), stated],
      [sealed('c2Vjb25k'), stated],
    ];
    assert.equal(memory.pinnedProviderOf(asking(first), 'scope'), 'one');
    assert.equal(memory.pinnedProviderOf(asking(first, second), 'scope'), 'two');
    assert.equal(memory.pinnedProviderOf(asking([sealed('dW5rbm93bg=='), stated]), 'scope'), undefined);
  });

  test('is known to the workspace that it was made for, and to no other', () => {
    const memory = createMemory();
    memory.listen({ provider: 'one', scope: 'account a' })(eventsOf(sealed('Zmlyc3Q='), 2));
    const request = asking([sealed('Zmlyc3Q='), stated]);
    assert.equal(memory.pinnedProviderOf(request, 'account a'), 'one');
    assert.equal(memory.pinnedProviderOf(request, 'account b'), undefined);
    assert.equal(memory.keepOwn(request, { provider: 'two', scope: 'account b' }).request, request);
  });

  test('drops reasoning of another provider with a warning, and sends reasoning of unknown origin', () => {
    const memory = createMemory();
    memory.listen({ provider: 'one', scope: 'scope' })(eventsOf(sealed('Zmlyc3Q='), 2));
    const request = asking([sealed('Zmlyc3Q='), sealed('dW5rbm93bg=='), stated]);
    assert.equal(memory.keepOwn(request, { provider: 'one', scope: 'scope' }).request, request);
    const { request: kept, warnings } = memory.keepOwn(request, { provider: 'two', scope: 'scope' });
    assert.deepEqual(kept.turns[1]?.blocks, [sealed('dW5rbm93bg=='), stated]);
    assert.deepEqual(
      warnings.map(({ code, path }) => [code, path]),
      [['content-dropped', 'messages[1].reasoning_details[0]']],
    );
  });

  test('pins no provider for reasoning that all providers of its vendor can read', () => {
    const memory = createMemory();
    const blocks = [sealed('cmVkYWN0ZWQ=', 'anthropic-claude-v1'), sealed('c2lnbmVk', 'google-gemini-v1')];
    for (const block of blocks) memory.listen({ provider: 'one', scope: 'scope' })(eventsOf(block, 100));
    assert.equal(memory.pinnedProviderOf(asking(blocks), 'scope'), undefined);
    assert.deepEqual(memory.keepOwn(asking(blocks), { provider: 'two', scope: 'scope' }).warnings, []);
  });

  test('tells texts apart by their ends, however alike they begin', () => {
    const memory = createMemory();
    const beginning = 'gAAAAABp'.repeat(200);
    memory.listen({ provider: 'one', scope: 'scope' })(eventsOf(sealed(`${beginning}b25l`), 500));
    assert.equal(memory.pinnedProviderOf(asking([sealed(`${beginning}dHdv`)]), 'scope'), undefined);
    assert.equal(memory.pinnedProviderOf(asking([sealed(`${beginning}b25l`)]), 'scope'), 'one');
  });
});
