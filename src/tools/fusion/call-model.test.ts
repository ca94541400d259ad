import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { NestedResponse, GenerateNested, NestedInput } from '../../canonical/tools/nested-generation.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { callModel, type ModelInput } from './call-model.ts';

const QUESTION: ModelInput = {
  model: 'a/one',
  instructions: 'Answer.',
  text: 'Tea?',
  settings: { maxTokens: 9, temperature: 0 },
  plainTokensMax: 5,
  tools: [{ type: 'server', name: 'service:datetime' }],
  toolCallsMax: 4,
};
const USAGE = { ...NO_USAGE, promptTokens: 10, completionTokens: 5 };
const ANSWER: NestedResponse = {
  generationId: 'gen-1',
  model: 'a/one-2026',
  usage: USAGE,
  costNanoUsd: 7,
  response: {
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

/** The outcome of each call, in order: a response, an error, or silence until it is aborted. */
function generateBy(outcomes: readonly (NestedResponse | GatewayError | 'silence')[]): {
  readonly requested: NestedInput[];
  readonly generate: GenerateNested;
} {
  const requested: NestedInput[] = [];
  return {
    requested,
    async generate(input, signal) {
      const outcome = outcomes[requested.length];
      requested.push(input);
      if (outcome === 'silence')
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve, { once: true });
        });
      input.ended?.({ usage: USAGE, costNanoUsd: 7 });
      if (outcome instanceof GatewayError) throw outcome;
      if (outcome === undefined || outcome === 'silence') throw new GatewayError('server', 'aborted');
      return outcome;
    },
  };
}

const LIMIT_MS = 60_000;
const asking = (generate: GenerateNested, signal = new AbortController().signal) => ({
  generate,
  signal,
  monotonicMs: () => 0,
});

suite('one model', () => {
  test('returns its text, its sources, and its usage', async () => {
    const { generate } = generateBy([ANSWER]);
    const reply = await callModel(QUESTION, asking(generate), LIMIT_MS);
    assert.deepEqual([reply.model, reply.text, reply.error, reply.costNanoUsd], ['a/one-2026', 'Tea.', undefined, 7]);
    assert.deepEqual(
      reply.sources.map(({ url }) => url),
      ['https://a.test', 'https://b.test'],
    );
    assert.deepEqual(reply.usage, USAGE);
  });

  for (const type of ['invalid_request', 'unprocessable', 'not_found'] as const) {
    test(`is called once more with less after ${type}, and both calls count`, async () => {
      const { generate, requested } = generateBy([new GatewayError(type, 'no'), ANSWER]);
      const reply = await callModel(QUESTION, asking(generate), LIMIT_MS);
      assert.equal(reply.text, 'Tea.');
      const [, second] = requested;
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
    test(`is not called again when less would not help: ${error.type} ${error.availability?.code ?? ''}`, async () => {
      const { generate, requested } = generateBy([error, ANSWER]);
      const reply = await callModel(QUESTION, asking(generate), LIMIT_MS);
      assert.equal(reply.error, error);
      assert.equal(requested.length, 1);
    });
  }

  test('has for the second time what the first has left of its budget', async () => {
    const { generate, requested } = generateBy([new GatewayError('invalid_request', 'no'), ANSWER]);
    await callModel({ ...QUESTION, budgetNanoUsd: 10 }, asking(generate), LIMIT_MS);
    assert.deepEqual(
      requested.map(({ budgetNanoUsd }) => budgetNanoUsd),
      [10, 3],
    );
  });

  test('is not called again when there is nothing to leave out', async () => {
    const { generate, requested } = generateBy([new GatewayError('invalid_request', 'no'), ANSWER]);
    await callModel({ ...QUESTION, tools: [], settings: { maxTokens: 5 } }, asking(generate), LIMIT_MS);
    assert.equal(requested.length, 1);
  });

  test('is aborted when it is silent for too long, and the others are not', async () => {
    const { generate } = generateBy(['silence']);
    const parent = new AbortController();
    const reply = await callModel(QUESTION, asking(generate, parent.signal), 1);
    assert.equal(reply.error?.type, 'timeout');
    assert.equal(parent.signal.aborted, false);
  });

  test('is aborted when its reply is no longer needed', async () => {
    const { generate } = generateBy(['silence']);
    const parent = new AbortController();
    const replying = callModel(QUESTION, asking(generate, parent.signal), LIMIT_MS);
    parent.abort();
    assert.equal((await replying).error?.type, 'server');
  });

  // @spec fusion-14
  test('may not call a panel, and a bug is no reply', async () => {
    const { generate, requested } = generateBy([ANSWER]);
    await callModel(QUESTION, asking(generate), LIMIT_MS);
    assert.deepEqual(requested[0]?.withoutTools, ['service:fusion']);
    const broken: GenerateNested = () => Promise.reject(new TypeError('broken'));
    await assert.rejects(callModel(QUESTION, asking(broken), LIMIT_MS), TypeError);
  });
});
