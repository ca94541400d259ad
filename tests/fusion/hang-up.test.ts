import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { requestedOf, fusionTool, states, startPanel, type States, type Who } from '../support/panel.ts';
import { recordOf } from '../support/tool-turns.ts';
import type { Script } from '../support/upstream.ts';

/** Far more than it takes; the tests do not measure how long it took. */
const PATIENCE_MS = 5_000;
const TURN_NANO_USD = 20_000;

/** Some of the called models fall silent. Settles once all of them are called, and once all are aborted. */
function silence(silent: readonly Who[]): {
  readonly emit: States;
  readonly requested: Promise<unknown>;
  readonly left: Promise<unknown>;
} {
  const requested = new Map(silent.map((who) => [who, Promise.withResolvers<void>()]));
  const left = new Map(silent.map((who) => [who, Promise.withResolvers<void>()]));
  const hush =
    (who: Who): Script =>
    (_arrived, response) => {
      requested.get(who)?.resolve();
      response.on('close', () => left.get(who)?.resolve());
    };
  return {
    emit: (who, arrived) => (silent.includes(who) ? hush(who) : states(who, arrived)),
    requested: Promise.all([...requested.values()].map(({ promise }) => promise)),
    left: Promise.all([...left.values()].map(({ promise }) => promise)),
  };
}

async function within(promise: Promise<unknown>): Promise<void> {
  const tooLate = wait(PATIENCE_MS, 'late', { ref: false });
  assert.notEqual(await Promise.race([promise, tooLate]), 'late', 'a model is still being called');
}

suite('a caller that hangs up', () => {
  for (const stream of [true, false]) {
    const how = stream ? 'stream' : 'whole';

    // @spec fusion-18
    test(`aborts every member of the panel at once: ${how}`, async (t) => {
      const { emit, requested, left } = silence(['one', 'two', 'three']);
      const turns = await startPanel(t, emit);
      const caller = new AbortController();
      const body = {
        model: 'acme/outer',
        stream,
        messages: [{ role: 'user', content: 'Tea?' }],
        tools: [fusionTool()],
      };
      const answer = turns.gateway.post('/chat/completions', body, {}, caller.signal).then((one) => one.text());
      await within(requested);
      caller.abort();
      await assert.rejects(answer);
      await within(left);
      assert.equal(requestedOf(turns, 'judge').length, 0, 'the analyst is not called');
      assert.equal(requestedOf(turns, 'outer').length, 1, 'no response is written');
    });

    test(`aborts the analyst: ${how}`, async (t) => {
      const { emit, requested, left } = silence(['judge']);
      const turns = await startPanel(t, emit);
      const caller = new AbortController();
      const body = {
        model: 'acme/outer',
        stream,
        messages: [{ role: 'user', content: 'Tea?' }],
        tools: [fusionTool()],
      };
      const answer = turns.gateway.post('/chat/completions', body, {}, caller.signal).then((one) => one.text());
      await within(requested);
      caller.abort();
      await assert.rejects(answer);
      await within(left);
      assert.equal(requestedOf(turns, 'outer').length, 1);
    });
  }

  test('is charged for the turn that called the panel, and recorded as cancelled', async (t) => {
    const { emit, requested, left } = silence(['one', 'two', 'three']);
    const { gateway } = await startPanel(t, emit);
    const caller = new AbortController();
    const body = { model: 'acme/outer', max_tokens: 99, stream: true, messages: [{ role: 'user', content: 'Tea?' }] };
    const answer = await gateway.post('/messages', { ...body, tools: [fusionTool()] }, {}, caller.signal);
    await within(requested);
    caller.abort();
    await within(left);
    const record = await recordOf(gateway, answer.headers.get('x-generation-id') ?? '');
    assert.equal(record.cancelled, true);
    assert.equal(record.costNanoUsd, TURN_NANO_USD);
  });
});
