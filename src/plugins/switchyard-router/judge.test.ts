import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { GenerationResponse } from '../../canonical/response.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { NestedResponse, GenerateNested, NestedInput } from '../../canonical/tools/nested-generation.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { askJudge, type JudgeDeps } from './judge.ts';

const STATED = '{"reason": "usual", "rule": "known_way", "boundary": "supported", "p_solve": 0.9}';
const TASK = { opening: 'Write a mail', latest: 'Shorter' };

function answered(text: string, end: GenerationResponse['end'] = { type: 'end', finish: 'stop' }): NestedResponse {
  const response: GenerationResponse = {
    format: 'chat',
    id: undefined,
    model: undefined,
    blocks: [{ type: 'text', text }],
    citations: [],
    usage: undefined,
    end,
    failure: undefined,
    extras: [],
    warnings: [],
  };
  return { generationId: 'gen-1', model: 'a/judge', response, usage: NO_USAGE, costNanoUsd: 70 };
}

function deps(generate: GenerateNested | undefined, changes: Partial<JudgeDeps> = {}): JudgeDeps {
  const signal = new AbortController().signal;
  return { generate, judges: () => ['a/judge', 'b/judge'], timeoutMs: 60_000, signal, ...changes };
}

suite('a judge call', () => {
  test('returns the verdict, the judge and its cost', async () => {
    const judgement = await askJudge(
      deps(() => Promise.resolve(answered(STATED))),
      TASK,
    );
    assert.deepEqual(judgement, {
      verdict: { rule: 'known_way', boundary: 'supported', pSolve: 0.9 },
      model: 'a/judge',
      costNanoUsd: 70,
    });
  });

  test('shows the task as data, within a budget, bound to a schema', async () => {
    const requested: NestedInput[] = [];
    await askJudge(
      deps((input) => {
        requested.push(input);
        return Promise.resolve(answered(STATED));
      }),
      TASK,
    );
    const [input] = requested;
    assert.deepEqual(input?.models, ['a/judge', 'b/judge']);
    assert.equal(input.settings?.maxTokens, 4_096);
    assert.equal(input.settings.responseFormat?.type, 'json_schema');
    const [block] = input.turns.at(-1)?.blocks ?? [];
    assert.equal(block?.type === 'text' && block.text, '{"opening_task":"Write a mail","latest_message":"Shorter"}');
  });

  for (const [title, generate, failure] of [
    ['a refusal of the gateway', () => Promise.reject(new GatewayError('payment_required', 'no')), 'failed'],
    ['a fault of ours', () => Promise.reject(new Error('bug')), 'failed'],
    ['words for a verdict', () => Promise.resolve(answered('Sure!')), 'invalid'],
    [
      'an answer that was cut off',
      () => Promise.resolve(answered(STATED, { type: 'end', finish: 'length' })),
      'invalid',
    ],
    [
      'an answer that was held back',
      () => Promise.resolve(answered(STATED, { type: 'end', finish: 'content_filter' })),
      'invalid',
    ],
  ] as const satisfies readonly (readonly [string, GenerateNested, string])[])
    test(`reports ${title} without an exception`, async () => {
      const judgement = await askJudge(deps(generate), TASK);
      assert.deepEqual([judgement.failure, judgement.verdict], [failure, undefined]);
    });

  test('reports the lack of a judge', async () => {
    assert.equal((await askJudge(deps(undefined), TASK)).failure, 'no_judge');
    const absent = deps(() => Promise.resolve(answered(STATED)), { judges: () => [] });
    assert.equal((await askJudge(absent, TASK)).failure, 'no_judge');
  });

  test('does not wait for a slow judge, and aborts it', async () => {
    let stopped: AbortSignal | undefined;
    const never: GenerateNested = (_input, signal) => {
      stopped = signal;
      return new Promise(() => undefined);
    };
    assert.equal((await askJudge(deps(never, { timeoutMs: 1 }), TASK)).failure, 'timeout');
    assert.equal(stopped?.aborted, true);
  });
});
