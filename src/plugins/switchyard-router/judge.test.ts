import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Answer } from '../../canonical/answer.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { InnerAnswer, InnerGenerate, InnerQuestion } from '../../canonical/inner-generation.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { askJudge, type JudgeParts } from './judge.ts';

const SAID = '{"reason": "usual", "rule": "known_way", "boundary": "supported", "p_solve": 0.9}';
const TASK = { opening: 'Write a mail', latest: 'Shorter' };

function answered(text: string, end: Answer['end'] = { type: 'end', finish: 'stop' }): InnerAnswer {
  const answer: Answer = {
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
  return { generationId: 'gen-1', model: 'a/judge', answer, usage: NO_USAGE, costNanoUsd: 70 };
}

function parts(generate: InnerGenerate | undefined, changes: Partial<JudgeParts> = {}): JudgeParts {
  const signal = new AbortController().signal;
  return { generate, judges: () => ['a/judge', 'b/judge'], timeoutMs: 60_000, signal, ...changes };
}

suite('asking a judge', () => {
  test('gives its verdict, who judged and what that cost', async () => {
    const judgement = await askJudge(
      parts(() => Promise.resolve(answered(SAID))),
      TASK,
    );
    assert.deepEqual(judgement, {
      verdict: { rule: 'known_way', boundary: 'supported', pSolve: 0.9 },
      model: 'a/judge',
      costNanoUsd: 70,
    });
  });

  test('it sees the task as data, within a budget, and is bound to a schema', async () => {
    const asked: InnerQuestion[] = [];
    await askJudge(
      parts((question) => {
        asked.push(question);
        return Promise.resolve(answered(SAID));
      }),
      TASK,
    );
    const [question] = asked;
    assert.deepEqual(question?.models, ['a/judge', 'b/judge']);
    assert.equal(question.settings?.maxTokens, 4_096);
    assert.equal(question.settings.responseFormat?.type, 'json_schema');
    const [block] = question.turns.at(-1)?.blocks ?? [];
    assert.equal(block?.type === 'text' && block.text, '{"opening_task":"Write a mail","latest_message":"Shorter"}');
  });

  for (const [title, generate, failure] of [
    ['a refusal of the gateway', () => Promise.reject(new GatewayError('payment_required', 'no')), 'failed'],
    ['a fault of ours', () => Promise.reject(new Error('bug')), 'failed'],
    ['words for a verdict', () => Promise.resolve(answered('Sure!')), 'invalid'],
    ['an answer that was cut off', () => Promise.resolve(answered(SAID, { type: 'end', finish: 'length' })), 'invalid'],
    [
      'an answer that was held back',
      () => Promise.resolve(answered(SAID, { type: 'end', finish: 'content_filter' })),
      'invalid',
    ],
  ] as const satisfies readonly (readonly [string, InnerGenerate, string])[])
    test(`${title} is told, and thrown at nobody`, async () => {
      const judgement = await askJudge(parts(generate), TASK);
      assert.deepEqual([judgement.failure, judgement.verdict], [failure, undefined]);
    });

  test('nobody to ask is told', async () => {
    assert.equal((await askJudge(parts(undefined), TASK)).failure, 'no_judge');
    const nobody = parts(() => Promise.resolve(answered(SAID)), { judges: () => [] });
    assert.equal((await askJudge(nobody, TASK)).failure, 'no_judge');
  });

  test('one that takes too long is not waited for, and told to stop', async () => {
    let stopped: AbortSignal | undefined;
    const never: InnerGenerate = (_question, signal) => {
      stopped = signal;
      return new Promise(() => undefined);
    };
    assert.equal((await askJudge(parts(never, { timeoutMs: 1 }), TASK)).failure, 'timeout');
    assert.equal(stopped?.aborted, true);
  });
});
