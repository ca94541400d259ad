import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { recordOf, startToolTurns, testTool, type Model, type ToolTurns } from '../support/tool-turns.ts';
import type { Script } from '../support/upstream.ts';

const TOOLS = [{ type: 'service:files' }];
const TURN_NANO_USD = 20_000;
/** Bound of the promise; the tests do not measure how long it took. */
const PROMISED_MS = 250;

/** Sends nothing, and reports when the caller has gone. */
function silence(gone: () => void): Script {
  return (_arrived, response) => void response.on('close', gone);
}

/** Hangs up once `begun` says so; settles when the client has. */
async function hangUp({ gateway }: ToolTurns, stream: boolean, begun: Promise<unknown>): Promise<void> {
  const caller = new AbortController();
  const body = { model: 'acme/chat', stream, messages: [{ role: 'user', content: 'Go.' }], tools: TOOLS };
  const requested = gateway.post('/chat/completions', body, {}, caller.signal).then((answer) => answer.text());
  await begun;
  caller.abort();
  await assert.rejects(requested);
}

async function within<Value>(promise: Promise<Value>): Promise<Value> {
  return Promise.race([
    promise,
    wait(20 * PROMISED_MS).then(() => {
      throw new Error('it goes on');
    }),
  ]);
}

const callsFirst: Model = (_arrived, at) => (at === 0 ? { calls: [{ name: 'service_files' }] } : { text: 'Done.' });

suite('a caller that hangs up', () => {
  for (const stream of [true, false]) {
    const how = stream ? 'stream' : 'whole';

    // @spec tool-13
    test(`stops a running tool: ${how}`, async (t) => {
      const begun = Promise.withResolvers<void>();
      const stopped = Promise.withResolvers<void>();
      const files = testTool('files', ({ signal }) => {
        signal.addEventListener('abort', () => stopped.resolve());
        begun.resolve();
        return new Promise(() => undefined);
      });
      const turns = await startToolTurns(t, callsFirst, { serverTools: [files] });
      await hangUp(turns, stream, begun.promise);
      await within(stopped.promise);
      assert.equal(turns.chat.arrived.length, 1, 'there is no further turn');
    });

    // @spec tool-13
    test(`stops a nested generation, and its upstream: ${how}`, async (t) => {
      const stopped = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const files = testTool('files', async ({ generate, signal }) => {
        await generate(
          { models: ['acme/messages'], turns: [{ role: 'user', blocks: [{ type: 'text', text: 'Hi.' }] }] },
          signal,
        );
        return { result: {} };
      });
      const model: Model = (arrived, at) => {
        if (!arrived.path.endsWith('/messages')) return callsFirst(arrived, at);
        begun.resolve();
        return silence(() => stopped.resolve());
      };
      const turns = await startToolTurns(t, model, { serverTools: [files] });
      await hangUp(turns, stream, begun.promise);
      await within(stopped.promise);
    });

    test(`stops the upstream of a later turn: ${how}`, async (t) => {
      const stopped = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const model: Model = (arrived, at) => {
        if (at === 0) return callsFirst(arrived, at);
        begun.resolve();
        return silence(() => stopped.resolve());
      };
      const files = testTool('files', () => Promise.resolve({ result: {} }));
      const turns = await startToolTurns(t, model, { serverTools: [files] });
      await hangUp(turns, stream, begun.promise);
      await within(stopped.promise);
    });
  }

  test('is charged the fees of completed calls', async (t) => {
    const begun = Promise.withResolvers<void>();
    const files = testTool('files', ({ input }) => {
      if (input['at'] === 1) return Promise.resolve({ result: {}, feeNanoUsd: 7_000 });
      begun.resolve();
      return new Promise(() => undefined);
    });
    const calls = [1, 2].map((at) => ({ name: 'service_files', input: JSON.stringify({ at }) }));
    const { gateway } = await startToolTurns(t, () => ({ text: 'Both.', calls }), { serverTools: [files] });
    const caller = new AbortController();
    const body = { model: 'acme/chat', stream: true, messages: [{ role: 'user', content: 'Go.' }], tools: TOOLS };
    const answer = await gateway.post('/chat/completions', body, {}, caller.signal);
    await begun.promise;
    caller.abort();
    const record = await recordOf(gateway, answer.headers.get('x-generation-id') ?? '');
    assert.equal(record.costNanoUsd, TURN_NANO_USD + 7_000);
  });

  test('is charged earlier turns during a later turn', async (t) => {
    const begun = Promise.withResolvers<void>();
    const model: Model = (_arrived, at) => {
      if (at === 0) return { text: 'Let me look.', calls: [{ name: 'service_files' }] };
      begun.resolve();
      return silence(() => undefined);
    };
    const files = testTool('files', () => Promise.resolve({ result: {} }));
    const { gateway } = await startToolTurns(t, model, { serverTools: [files] });
    const caller = new AbortController();
    const body = { model: 'acme/messages', stream: true, max_tokens: 99, messages: [{ role: 'user', content: 'Go.' }] };
    const answer = await gateway.post('/messages', { ...body, tools: TOOLS }, {}, caller.signal);
    await begun.promise;
    caller.abort();
    const record = await recordOf(gateway, answer.headers.get('x-generation-id') ?? '');
    assert.equal(record.cancelled, true);
    assert.equal(record.costNanoUsd, TURN_NANO_USD, 'the later turn stops with the caller at this provider');
  });

  test('is charged completed turns once', async (t) => {
    const begun = Promise.withResolvers<void>();
    const files = testTool('files', () => {
      begun.resolve();
      return new Promise(() => undefined);
    });
    const { gateway } = await startToolTurns(t, callsFirst, { serverTools: [files] });
    const caller = new AbortController();
    const body = { model: 'acme/chat', stream: true, max_tokens: 99, messages: [{ role: 'user', content: 'Go.' }] };
    const answer = await gateway.post('/messages', { ...body, tools: TOOLS }, {}, caller.signal);
    await begun.promise;
    caller.abort();
    const record = await recordOf(gateway, answer.headers.get('x-generation-id') ?? '');
    assert.equal(record.cancelled, true);
    assert.equal(record.costNanoUsd, TURN_NANO_USD);
    assert.deepEqual([record.tokensPrompt, record.tokensCompletion, record.usageSource], [10, 5, 'upstream']);
  });
});
