import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { InnerAnswer, InnerGenerate, InnerQuestion } from '../../canonical/inner-generation.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { askModel, type ModelQuestion } from './ask-model.ts';

const QUESTION: ModelQuestion = {
  model: 'a/one',
  instructions: 'Answer.',
  text: 'Tea?',
  settings: { maxTokens: 9, temperature: 0 },
  plainTokensMax: 5,
  tools: [{ type: 'server', name: 'service:datetime' }],
  toolCallsMax: 4,
};
const USAGE = { ...NO_USAGE, promptTokens: 10, completionTokens: 5 };
const ANSWER: InnerAnswer = {
  generationId: 'gen-1',
  model: 'a/one-2026',
  usage: USAGE,
  costNanoUsd: 7,
  answer: {
    format: 'chat',
    id: undefined,
    model: undefined,
    blocks: [{ type: 'text', text: 'Tea.', citations: [{ type: 'url', url: 'https://a.test' }] }],
    citations: [{ citation: { type: 'url', url: 'https://b.test', title: 'B' }, afterBlocks: 1 }],
    usage: USAGE,
    end: undefined,
    failure: undefined,
    extras: [],
    warnings: [],
  },
};

/** Each time somebody asks, what comes next: an answer, an error, or silence until it is aborted. */
function generateBy(outcomes: readonly (InnerAnswer | GatewayError | 'silence')[]): {
  readonly asked: InnerQuestion[];
  readonly generate: InnerGenerate;
} {
  const asked: InnerQuestion[] = [];
  return {
    asked,
    async generate(question, signal) {
      const outcome = outcomes[asked.length];
      asked.push(question);
      if (outcome === 'silence')
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve, { once: true });
        });
      question.ended?.({ usage: USAGE, costNanoUsd: 7 });
      if (outcome instanceof GatewayError) throw outcome;
      if (outcome === undefined || outcome === 'silence') throw new GatewayError('server', 'aborted');
      return outcome;
    },
  };
}

const LIMIT_MS = 60_000;
const asking = (generate: InnerGenerate, signal = new AbortController().signal) => ({
  generate,
  signal,
  monotonicMs: () => 0,
});

suite('one model', () => {
  test('that answers gives its text, its sources, and what it took', async () => {
    const { generate } = generateBy([ANSWER]);
    const reply = await askModel(QUESTION, asking(generate), LIMIT_MS);
    assert.deepEqual([reply.model, reply.text, reply.error, reply.costNanoUsd], ['a/one-2026', 'Tea.', undefined, 7]);
    assert.deepEqual(
      reply.sources.map(({ url }) => url),
      ['https://a.test', 'https://b.test'],
    );
    assert.deepEqual(reply.usage, USAGE);
  });

  for (const type of ['invalid_request', 'unprocessable', 'not_found'] as const) {
    test(`is asked once more for less after ${type}, and both attempts count`, async () => {
      const { generate, asked } = generateBy([new GatewayError(type, 'no'), ANSWER]);
      const reply = await askModel(QUESTION, asking(generate), LIMIT_MS);
      assert.equal(reply.text, 'Tea.');
      const [, second] = asked;
      assert.deepEqual([second?.tools, second?.settings], [undefined, { maxTokens: 5 }]);
      assert.deepEqual([reply.costNanoUsd, reply.usage?.promptTokens], [14, 20]);
    });
  }

  for (const error of [
    new GatewayError('provider_unavailable', 'no'),
    new GatewayError('payment_required', 'no'),
    new GatewayError('rate_limit_exceeded', 'no'),
    new GatewayError('context_length_exceeded', 'no'),
    new GatewayError('not_found', 'no', {
      availability: { code: 'model_not_found', retryable: false, requestedModels: ['a/one'] },
    }),
  ]) {
    test(`is not asked again where less would not help: ${error.type} ${error.availability?.code ?? ''}`, async () => {
      const { generate, asked } = generateBy([error, ANSWER]);
      const reply = await askModel(QUESTION, asking(generate), LIMIT_MS);
      assert.equal(reply.error, error);
      assert.equal(asked.length, 1);
    });
  }

  test('has for the second time what the first has left of its budget', async () => {
    const { generate, asked } = generateBy([new GatewayError('invalid_request', 'no'), ANSWER]);
    await askModel({ ...QUESTION, budgetNanoUsd: 10 }, asking(generate), LIMIT_MS);
    assert.deepEqual(
      asked.map(({ budgetNanoUsd }) => budgetNanoUsd),
      [10, 3],
    );
  });

  test('is not asked again where there is nothing to leave out', async () => {
    const { generate, asked } = generateBy([new GatewayError('invalid_request', 'no'), ANSWER]);
    await askModel({ ...QUESTION, tools: [], settings: { maxTokens: 5 } }, asking(generate), LIMIT_MS);
    assert.equal(asked.length, 1);
  });

  test('that says nothing for too long is left, and the others are not', async () => {
    const { generate } = generateBy(['silence']);
    const outer = new AbortController();
    const reply = await askModel(QUESTION, asking(generate, outer.signal), 1);
    assert.equal(reply.error?.type, 'timeout');
    assert.equal(outer.signal.aborted, false);
  });

  test('is left when nobody waits for it any more', async () => {
    const { generate } = generateBy(['silence']);
    const outer = new AbortController();
    const replying = askModel(QUESTION, asking(generate, outer.signal), LIMIT_MS);
    outer.abort();
    assert.equal((await replying).error?.type, 'server');
  });

  test('may not ask a panel, and a bug is no reply', async () => {
    const { generate, asked } = generateBy([ANSWER]);
    await askModel(QUESTION, asking(generate), LIMIT_MS);
    assert.deepEqual(asked[0]?.withoutTools, ['service:fusion']);
    const broken: InnerGenerate = () => Promise.reject(new TypeError('broken'));
    await assert.rejects(askModel(QUESTION, asking(broken), LIMIT_MS), TypeError);
  });
});
