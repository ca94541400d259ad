import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Block, ReasoningBlock, ToolCallBlock } from '../../canonical/blocks.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { chatUpstreamFormat } from '../../wire/chat/format.ts';
import { geminiUpstreamFormat } from '../../wire/gemini/format.ts';
import type { PassedValues } from './shared-values.ts';
import { createSignatureMemory } from './signature-memory.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';

const HOUR_MS = 3_600_000;
const call = (id: string): ToolCallBlock => ({ type: 'tool-call', id, name: 'look', input: '{}', runBy: 'caller' });
const signature = (text: string, id: string): ReasoningBlock => ({
  type: 'reasoning',
  form: 'encrypted',
  text,
  family: 'google-gemini-v1',
  id,
});

function asking(...blocks: readonly Block[]): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [
      { role: 'user', blocks: [{ type: 'text', text: 'Look.' }] },
      { role: 'assistant', blocks },
    ],
    tools: [],
    settings: {},
    directives: plainDirectives('acme/one'),
    warnings: [],
  };
}

function createMemory(): {
  readonly memory: ReturnType<typeof createSignatureMemory>;
  readonly answer: (account: string, ...blocks: readonly Block[]) => void;
  readonly wait: (ms: number) => void;
} {
  let nowMs = 0;
  const memory = createSignatureMemory({ clock: { nowMs: () => nowMs, monotonicMs: () => nowMs } });
  return {
    memory,
    answer(account, ...blocks) {
      memory.listen(
        geminiUpstreamFormat,
        account,
      )?.([
        { type: 'start', format: 'gemini' },
        ...blocks.flatMap(
          (block, index) =>
            [
              { type: 'block-start', index, block },
              { type: 'block-end', index },
            ] as const,
        ),
      ]);
    },
    wait(ms) {
      nowMs += ms;
    },
  };
}

suite('signatures of calls', () => {
  test('return right before their call, and change nothing else', () => {
    const { memory, answer } = createMemory();
    answer('a', signature('c2lnbmVk', 'call_1'), call('call_1'), call('call_2'));
    const request = asking({ type: 'text', text: 'I look.' }, call('call_1'), call('call_2'));
    assert.deepEqual(memory.restore(request, geminiUpstreamFormat, 'a').turns[1]?.blocks, [
      { type: 'text', text: 'I look.' },
      signature('c2lnbmVk', 'call_1'),
      call('call_1'),
      call('call_2'),
    ]);
  });

  test('leaves signatures of a caller that kept them as they are', () => {
    const { memory, answer } = createMemory();
    answer('a', signature('c2lnbmVk', 'call_1'), call('call_1'));
    const request = asking(signature('b3duZWQ=', 'call_1'), call('call_1'));
    assert.equal(memory.restore(request, geminiUpstreamFormat, 'a'), request);
  });

  // @spec reasoning-20
  test('does not restore them for another account, whatever id it guesses', () => {
    const { memory, answer } = createMemory();
    answer('a', signature('c2lnbmVk', 'call_1'), call('call_1'));
    const request = asking(call('call_1'));
    assert.equal(memory.restore(request, geminiUpstreamFormat, 'b'), request);
  });

  // @spec reasoning-20
  test('forgets them after six hours without use', () => {
    const { memory, answer, wait } = createMemory();
    answer('a', signature('c2lnbmVk', 'call_1'), call('call_1'));
    const isKnown = (): boolean =>
      memory.restore(asking(call('call_1')), geminiUpstreamFormat, 'a').turns[1]?.blocks.length === 2;
    wait(5 * HOUR_MS);
    assert.ok(isKnown());
    wait(5 * HOUR_MS);
    assert.ok(isKnown(), 'a conversation that goes on keeps them');
    wait(6 * HOUR_MS);
    assert.ok(!isKnown());
  });

  test('drop those of the oldest responses when there are too many', () => {
    const { memory, answer } = createMemory();
    for (let at = 0; at <= 20_000; at++) answer('a', signature('c2lnbmVk', `call_${at}`), call(`call_${at}`));
    const blocksOf = (id: string): number | undefined =>
      memory.restore(asking(call(id)), geminiUpstreamFormat, 'a').turns[1]?.blocks.length;
    assert.deepEqual([blocksOf('call_0'), blocksOf('call_1')], [1, 2]);
  });

  test('cost nothing in a format without them', () => {
    const { memory } = createMemory();
    const request = asking(call('call_1'));
    assert.equal(memory.listen(chatUpstreamFormat, 'a'), undefined);
    assert.equal(memory.restore(request, chatUpstreamFormat, 'a'), request);
  });

  test('restores what another process saw, for the same account alone', async () => {
    const shared = new Map<string, string>();
    const values: PassedValues = {
      get: (key) => Promise.resolve(shared.get(key)),
      set: (key, value) => void shared.set(key, value),
    };
    const clock = { nowMs: () => 0, monotonicMs: () => 0 };
    const [one, next] = [createSignatureMemory({ clock, values }), createSignatureMemory({ clock, values })];
    const block = signature('c2lnbmVk', 'call_1');
    one.listen(geminiUpstreamFormat, 'a')?.([{ type: 'block-start', index: 0, block }]);
    const request = asking(call('call_1'));
    await next.ask(request, geminiUpstreamFormat, 'b');
    assert.equal(next.restore(request, geminiUpstreamFormat, 'b'), request);
    await next.ask(request, geminiUpstreamFormat, 'a');
    assert.equal(next.restore(request, geminiUpstreamFormat, 'a').turns[1]?.blocks.length, 2);
    assert.equal(next.ask(request, geminiUpstreamFormat, 'a'), undefined, 'what is known is not looked up');
    assert.ok(
      [...shared.keys()].every((key) => !key.includes('call_1')),
      'keys tell nothing',
    );
  });
});
