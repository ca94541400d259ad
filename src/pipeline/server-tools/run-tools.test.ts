import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Block } from '../../canonical/blocks.ts';
import { webFetch } from '../../tools/web-fetch/tool.ts';
import type { ToolOutcome } from '../../tools/contract.ts';
import { runTool, type ReadyTool } from './run-tools.ts';

const question = {
  turn: 0,
  turns: [],
  signal: new AbortController().signal,
  generate: () => assert.fail('no model is called'),
  traceHeaders: () => ({}),
  onBug: (error: unknown) => assert.fail(String(error)),
};
const call = { id: 'call_1', shownId: 'call_1', name: 'look', input: '{}' };

/** What a caller and a model see of a call with this outcome. */
function reportedOf(outcome: ToolOutcome): Promise<ToolOutcome> {
  const tool: ReadyTool = {
    name: 'look',
    index: 0,
    tool: webFetch,
    parameters: {},
    arguments: { jsonSchema: { type: 'object' } },
    feeNanoUsdMax: 0,
    run: () => Promise.resolve(outcome),
  };
  return runTool(tool, call, question);
}

const words = (chars: number): Block => ({ type: 'text', text: 'a'.repeat(chars) });
const picture = (chars: number): Block => ({
  type: 'media',
  media: 'image',
  source: { type: 'base64', mediaType: 'image/png', data: 'A'.repeat(chars) },
});

suite('no result fills the context of a model', () => {
  // @spec tool-12
  test('reads a result of a million characters, and refuses a longer one', async () => {
    assert.equal((await reportedOf({ result: 'a'.repeat(999_990) })).failed, undefined);
    assert.equal((await reportedOf({ result: 'a'.repeat(1_000_000), feeNanoUsd: 7 })).failed, true);
  });

  test('cuts text also beside a picture', async () => {
    const fits = { result: 'shown', modelReads: [words(1_000_000), picture(5_000_000)] };
    assert.deepEqual(await reportedOf(fits), fits);
    const { failed, modelReads } = await reportedOf({ ...fits, modelReads: [words(1_000_001), picture(10)] });
    assert.deepEqual({ failed, modelReads }, { failed: true, modelReads: undefined });
  });

  test('pictures have a bound, too', async () => {
    const { failed } = await reportedOf({ result: 'shown', modelReads: [words(10), picture(20e6), picture(13e6)] });
    assert.equal(failed, true);
  });

  test('keeps the cost of a call, however long its result is', async () => {
    const { feeNanoUsd, searches } = await reportedOf({ result: 'a'.repeat(2e6), feeNanoUsd: 7, searches: 1 });
    assert.deepEqual({ feeNanoUsd, searches }, { feeNanoUsd: 7, searches: 1 });
  });
});
