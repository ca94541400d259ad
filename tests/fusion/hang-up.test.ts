import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { askedOf, fusionTool, says, startPanel, type Says, type Who } from '../support/panel.ts';
import { recordOf } from '../support/tool-turns.ts';
import type { Script } from '../support/upstream.ts';

/** Far more than it takes; the tests do not measure how long it took. */
const PATIENCE_MS = 5_000;
const TURN_NANO_USD = 20_000;

/** Some of those who are asked fall silent; settles once all of them are asked, and once all were left. */
function silence(silent: readonly Who[]): {
  readonly say: Says;
  readonly asked: Promise<unknown>;
  readonly left: Promise<unknown>;
} {
  const asked = new Map(silent.map((who) => [who, Promise.withResolvers<void>()]));
  const left = new Map(silent.map((who) => [who, Promise.withResolvers<void>()]));
  const hush =
    (who: Who): Script =>
    (_arrived, response) => {
      asked.get(who)?.resolve();
      response.on('close', () => left.get(who)?.resolve());
    };
  return {
    say: (who, arrived) => (silent.includes(who) ? hush(who) : says(who, arrived)),
    asked: Promise.all([...asked.values()].map(({ promise }) => promise)),
    left: Promise.all([...left.values()].map(({ promise }) => promise)),
  };
}

async function within(promise: Promise<unknown>): Promise<void> {
  const tooLate = wait(PATIENCE_MS, 'late', { ref: false });
  assert.notEqual(await Promise.race([promise, tooLate]), 'late', 'somebody is still asked');
}

suite('a caller that hangs up', () => {
  for (const stream of [true, false]) {
    const how = stream ? 'stream' : 'whole';

    test(`leaves every member of the panel at once: ${how}`, async (t) => {
      const { say, asked, left } = silence(['one', 'two', 'three']);
      const turns = await startPanel(t, say);
      const caller = new AbortController();
      const body = {
        model: 'acme/outer',
        stream,
        messages: [{ role: 'user', content: 'Tea?' }],
        tools: [fusionTool()],
      };
      const answer = turns.gateway.post('/chat/completions', body, {}, caller.signal).then((one) => one.text());
      await within(asked);
      caller.abort();
      await assert.rejects(answer);
      await within(left);
      assert.equal(askedOf(turns, 'judge').length, 0, 'nobody compares what nobody said');
      assert.equal(askedOf(turns, 'outer').length, 1, 'nobody writes an answer');
    });

    test(`leaves the analyst: ${how}`, async (t) => {
      const { say, asked, left } = silence(['judge']);
      const turns = await startPanel(t, say);
      const caller = new AbortController();
      const body = {
        model: 'acme/outer',
        stream,
        messages: [{ role: 'user', content: 'Tea?' }],
        tools: [fusionTool()],
      };
      const answer = turns.gateway.post('/chat/completions', body, {}, caller.signal).then((one) => one.text());
      await within(asked);
      caller.abort();
      await assert.rejects(answer);
      await within(left);
      assert.equal(askedOf(turns, 'outer').length, 1);
    });
  }

  test('owes the turn that called the panel, and the record says that it was cancelled', async (t) => {
    const { say, asked, left } = silence(['one', 'two', 'three']);
    const { gateway } = await startPanel(t, say);
    const caller = new AbortController();
    const body = { model: 'acme/outer', max_tokens: 99, stream: true, messages: [{ role: 'user', content: 'Tea?' }] };
    const answer = await gateway.post('/messages', { ...body, tools: [fusionTool()] }, {}, caller.signal);
    await within(asked);
    caller.abort();
    await within(left);
    const record = await recordOf(gateway, answer.headers.get('x-generation-id') ?? '');
    assert.equal(record.cancelled, true);
    assert.equal(record.costNanoUsd, TURN_NANO_USD);
  });
});
