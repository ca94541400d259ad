import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Block, ReasoningBlock } from '../canonical/blocks.ts';
import { classifyStatus } from '../canonical/classify-failure.ts';
import { DEFAULT_PREFERENCES } from '../canonical/directives.ts';
import type { GenerationEvent } from '../canonical/events.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { createOriginMemory, isUnreadableReasoning, withoutEncryptedReasoning } from './origin-memory.ts';

const sealed = (text: string, family: ReasoningBlock['family'] = 'openai-responses-v1'): ReasoningBlock => ({
  type: 'reasoning',
  form: 'encrypted',
  text,
  ...(family !== undefined && { family }),
});
const said: Block = { type: 'text', text: 'Done.' };

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
    directives: {
      models: ['acme/one'],
      provider: DEFAULT_PREFERENCES,
      plugins: [],
      echoUpstreamBody: false,
      serviceMetadata: false,
      betas: [],
    },
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
  test('has a home: whoever made the latest of it', () => {
    const memory = createMemory();
    memory.listen('one')([
      { type: 'block-start', index: 0, block: sealed('Zmlyc3Q=') },
      { type: 'block-end', index: 0 },
    ]);
    memory.listen('two')(eventsOf(sealed('c2Vjb25k'), 3));
    const [first, second] = [
      [sealed('Zmlyc3Q='), said],
      [sealed('c2Vjb25k'), said],
    ];
    assert.equal(memory.homeOf(asking(first)), 'one');
    assert.equal(memory.homeOf(asking(first, second)), 'two');
    assert.equal(memory.homeOf(asking([sealed('dW5rbm93bg=='), said])), undefined);
  });

  test('of another provider stays behind, with a warning; what is known of nobody goes', () => {
    const memory = createMemory();
    memory.listen('one')(eventsOf(sealed('Zmlyc3Q='), 2));
    const request = asking([sealed('Zmlyc3Q='), sealed('dW5rbm93bg=='), said]);
    assert.equal(memory.keepOwn(request, 'one').request, request);
    const { request: kept, warnings } = memory.keepOwn(request, 'two');
    assert.deepEqual(kept.turns[1]?.blocks, [sealed('dW5rbm93bg=='), said]);
    assert.deepEqual(
      warnings.map(({ code, path }) => [code, path]),
      [['content-dropped', 'messages[1].reasoning_details[0]']],
    );
  });

  test('that anybody of its vendor can read is nobody’s home', () => {
    const memory = createMemory();
    const blocks = [sealed('cmVkYWN0ZWQ=', 'anthropic-claude-v1'), sealed('c2lnbmVk', 'google-gemini-v1')];
    for (const block of blocks) memory.listen('one')(eventsOf(block, 100));
    assert.equal(memory.homeOf(asking(blocks)), undefined);
    assert.deepEqual(memory.keepOwn(asking(blocks), 'two').warnings, []);
  });

  test('is told apart by its end, however alike it begins', () => {
    const memory = createMemory();
    const beginning = 'gAAAAABp'.repeat(200);
    memory.listen('one')(eventsOf(sealed(`${beginning}b25l`), 500));
    assert.equal(memory.homeOf(asking([sealed(`${beginning}dHdv`)])), undefined);
    assert.equal(memory.homeOf(asking([sealed(`${beginning}b25l`)])), 'one');
  });

  test('goes when an upstream says that it cannot read it, and everything else stays', () => {
    const refusals = [
      { code: 'invalid_encrypted_content', message: 'The encrypted content gAAA...Rg== could not be verified.' },
      { code: 'bad_request', message: 'The encrypted content gAAA...Qw== could not be verified. Reason: no key.' },
      {
        code: 'invalid-argument',
        message: 'Could not decrypt the provided encrypted_content. Ensure that it is whole.',
      },
    ];
    for (const error of refusals) assert.ok(isUnreadableReasoning(classifyStatus(400, error)), error.message);
    assert.ok(!isUnreadableReasoning(classifyStatus(400, { message: 'encrypted_content is not known' })));
    const readable: ReasoningBlock = {
      type: 'reasoning',
      form: 'summary',
      text: 'I look.',
      family: 'xai-responses-v1',
    };
    const { request, warnings } = withoutEncryptedReasoning(asking([readable, sealed('c2VhbGVk'), said]));
    assert.deepEqual(request.turns[1]?.blocks, [readable, said]);
    assert.equal(warnings.length, 1);
  });
});
