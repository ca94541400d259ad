import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { MANAGEMENT_KEY, type RunningGateway } from '../support/gateway.ts';
import { objectOf } from '../support/reported.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { ToolOutcome } from '../../src/tools/contract.ts';
import { ask, recordOf, startToolTurns, testTool, type Asking, type Model } from '../support/tool-turns.ts';
import { chatChunk, json, sse } from '../support/upstream.ts';

const CHAT: Asking = { format: 'chat', model: 'acme/chat', stream: true };
const FILES = [{ type: 'service:files' }];
/** 10 prompt tokens at 1 USD and 5 at 2 USD a million. */
const TURN_NANO_USD = 20_000;
const CREDITS = 'credits: { enforce: true }\n';

async function manage(gateway: RunningGateway, method: string, path: string, body?: object): Promise<JsonObject> {
  const answer = await fetch(gateway.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${path}: ${text}`);
  return JSON.parse(text) as JsonObject;
}

async function grant(gateway: RunningGateway, usd: number): Promise<void> {
  await manage(gateway, 'POST', '/credits/grants', { amount: usd, note: 'for the test' });
}

/** What the account has spent, USD. */
async function spent(gateway: RunningGateway): Promise<number> {
  const { data } = await manage(gateway, 'GET', '/credits');
  return Number(objectOf(data)['total_usage']);
}

const usd = (nano: number): number => nano / 1e9;

suite('a response of several turns', () => {
  const model: Model = (_arrived, at) => (at < 2 ? { calls: [{ name: 'service_files' }] } : { text: 'Done.' });
  const files = testTool('files', () => Promise.resolve({ result: {}, feeNanoUsd: 7_000 }), {
    feeNanoUsdMax: () => 7_000,
  });

  // @spec tool-23
  test('costs the sum of its turns and of the fees of its tools, charged once', async (t) => {
    const { gateway } = await startToolTurns(t, model, { serverTools: [files], yaml: CREDITS });
    await grant(gateway, 1);
    const reported = await ask({ gateway }, CHAT, { tools: FILES, max_tokens: 100 });
    const total = 3 * TURN_NANO_USD + 2 * 7_000;
    assert.equal(reported.usage['cost'], usd(total));
    const details = objectOf(reported.usage['cost_details']);
    assert.equal(details['upstream_inference_prompt_cost'], usd(3 * 10_000), 'the fees are in no part of the details');
    assert.equal(details['upstream_inference_completions_cost'], usd(3 * 10_000));
    const record = await recordOf(gateway, reported.id);
    assert.equal(record.costNanoUsd, total);
    assert.deepEqual([record.tokensPrompt, record.tokensCompletion], [30, 15]);
    assert.deepEqual([record.toolCalls, record.toolFailures, record.webCostNanoUsd], [2, 0, null]);
    assert.equal(await spent(gateway), usd(total));
  });

  // @spec tool-25
  test('reserves no more than it may still cost, which lets the next request in', async (t) => {
    const { gateway } = await startToolTurns(t, model, { serverTools: [files], yaml: CREDITS });
    // Too little for three worst cases at once, enough for one beside what was spent.
    await grant(gateway, 0.0007);
    const reported = await ask({ gateway }, CHAT, { tools: FILES, max_tokens: 200 });
    assert.equal(reported.text, 'Done.');
    const again = await ask({ gateway }, CHAT, { tools: FILES, max_tokens: 200 });
    assert.equal(again.status, 200, 'nothing is held any more');
  });

  test('continues without a limit of its own as long as something is left', async (t) => {
    const { gateway } = await startToolTurns(t, model, { serverTools: [files], yaml: CREDITS });
    await grant(gateway, 0.001);
    const reported = await ask({ gateway }, CHAT, { tools: FILES });
    assert.equal(reported.text, 'Done.');
  });

  test('ends as at a maximum when its limit ends within a tool call, which does not run', async (t) => {
    let ran = 0;
    const counted = testTool('files', () => Promise.resolve({ result: { run: ++ran } }));
    const call = (args: string): object =>
      chatChunk({
        role: 'assistant',
        tool_calls: [
          { index: 0, id: 'call_1', type: 'function', function: { name: 'service_files', arguments: args } },
        ],
      });
    const calling: Model = () => async (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let piece = 0; piece < 1_000 && !response.destroyed; piece++) {
        response.write(sse([call(piece === 0 ? '{"text":"' : 'x'.repeat(1_000))]));
        await wait(5);
      }
      response.end();
    };
    const { gateway } = await startToolTurns(t, calling, { serverTools: [counted], yaml: CREDITS });
    await grant(gateway, 0.002);
    const reported = await ask({ gateway }, CHAT, { tools: FILES });
    assert.deepEqual([reported.error, reported.finish, ran], [undefined, 'length', 0]);
    assert.deepEqual(
      (await recordOf(gateway, reported.id)).warnings.map(({ code }) => code),
      ['budget_reached'],
    );
    assert.ok((await spent(gateway)) <= 0.002);
  });

  test('records failed tool calls, and the cost of searches', async (t) => {
    const outcomes: readonly ToolOutcome[] = [
      { result: {}, feeNanoUsd: 5_000, searches: 1 },
      { result: {}, feeNanoUsd: 6_000, fetches: 1, failed: true },
    ];
    let calls = 0;
    const searching = testTool('files', () => Promise.resolve(outcomes[calls++] as ToolOutcome));
    const { gateway } = await startToolTurns(t, model, { serverTools: [searching] });
    const reported = await ask({ gateway }, CHAT, { tools: FILES });
    const record = await recordOf(gateway, reported.id);
    assert.deepEqual([record.toolCalls, record.toolFailures, record.webCostNanoUsd], [2, 1, 11_000]);
  });
});

suite('too little money for another turn', () => {
  const model: Model = (_arrived, at) =>
    at < 20 ? { text: 'More.', calls: [{ name: 'service_files' }] } : { text: 'Done.' };
  const files = testTool('files', () => Promise.resolve({ result: {} }));

  for (const stream of [true, false]) {
    // @spec tool-25
    test(`ends the response with payment_required and charges the earlier turns: ${stream ? 'stream' : 'not streamed'}`, async (t) => {
      const turns = await startToolTurns(t, model, { serverTools: [files], yaml: CREDITS });
      await grant(turns.gateway, 0.0005);
      const reported = await ask(turns, { ...CHAT, stream }, { tools: FILES, max_tokens: 100 });
      assert.equal(reported.status, 200);
      assert.equal(reported.error?.['code'], 402);
      assert.equal(objectOf(reported.error?.['metadata'])['error_type'], 'payment_required');
      assert.match(reported.text, /^More\./);
      assert.equal(reported.finish, 'error');
      const { length } = turns.chat.arrived;
      assert.ok(length > 1 && length < 20, `${length} turns`);
      assert.equal((await recordOf(turns.gateway, reported.id)).costNanoUsd, length * TURN_NANO_USD);
      assert.equal(await spent(turns.gateway), usd(length * TURN_NANO_USD));
    });
  }

  test('blames no endpoint', async (t) => {
    const turns = await startToolTurns(t, model, { serverTools: [files], yaml: CREDITS });
    const { gateway } = turns;
    for (let requestedCount = 0; requestedCount < 8; requestedCount++) {
      await grant(gateway, 0.0005);
      await ask(turns, CHAT, { tools: FILES, max_tokens: 100 });
    }
    await grant(gateway, 1);
    turns.chat.arrived.length = 0;
    const reported = await ask(turns, CHAT, { max_tokens: 100 });
    assert.equal(reported.status, 200, 'the endpoint is called as before');
  });

  test('includes searches that an endpoint runs itself', async (t) => {
    const yaml = `
  acme/searching:
    endpoints:
      - { provider: wordy, model: claude-sonnet-4-6, price: { prompt: 1, completion: 2, web_search: 0.01 } }
${CREDITS}`;
    const { gateway, messages } = await startToolTurns(t, () => ({ text: 'Found.' }), { yaml });
    await grant(gateway, 0.015);
    const requested = (uses: number): Promise<Response> =>
      gateway.post('/chat/completions', {
        model: 'acme/searching',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Go.' }],
        tools: [{ type: 'service:web_search', parameters: { max_uses: uses } }],
      });
    assert.equal((await requested(2)).status, 402);
    assert.equal(messages.arrived.length, 0);
    assert.equal((await requested(1)).status, 200);
  });

  // @spec tool-26
  test('stops a tool that costs more than what is left', async (t) => {
    let ran = 0;
    const dear = testTool('files', () => Promise.resolve({ result: { run: ++ran } }), { feeNanoUsdMax: () => 1e9 });
    const turns = await startToolTurns(t, model, { serverTools: [dear], yaml: CREDITS });
    await grant(turns.gateway, 0.01);
    const reported = await ask(turns, CHAT, { tools: FILES, max_tokens: 100 });
    assert.equal(reported.error?.['code'], 402);
    assert.equal(ran, 0);
  });
});

suite('a later turn that fails everywhere', () => {
  const failing =
    (status: number): Model =>
    (_arrived, at) =>
      at === 0
        ? { text: 'All that I know.', calls: [{ name: 'service_files' }] }
        : json(status, { error: { message: 'no' } });
  const files = testTool('files', () => Promise.resolve({ result: {}, feeNanoUsd: 5_000 }));
  const costOf = async (t: TestContext, status: number, stream: boolean): Promise<number | null> => {
    const { gateway } = await startToolTurns(t, failing(status), { serverTools: [files], yaml: CREDITS });
    await grant(gateway, 1);
    const body = { model: 'acme/chat', stream, messages: [{ role: 'user', content: 'Go.' }], tools: FILES };
    const answer = await gateway.post('/chat/completions', body);
    await answer.text();
    return (await recordOf(gateway, answer.headers.get('x-generation-id') ?? '')).costNanoUsd;
  };

  for (const stream of [true, false])
    // @spec money-14, tool-27
    test(`costs no tokens, but the fees of tools that ran: ${stream ? 'stream' : 'not streamed'}`, async (t) => {
      assert.equal(await costOf(t, 500, stream), 5_000);
    });

  // @spec money-15
  test('charges the turns that the caller received when the request is at fault', async (t) => {
    assert.equal(await costOf(t, 400, true), TURN_NANO_USD + 5_000);
  });

  // @spec money-15
  test('is free when the request is at fault and the caller received nothing', async (t) => {
    assert.equal(await costOf(t, 400, false), 5_000);
  });
});

suite('a nested generation', () => {
  const asks = testTool('files', async ({ generate, signal }) => {
    const { response, model, costNanoUsd, generationId } = await generate(
      {
        models: ['acme/messages'],
        turns: [{ role: 'user', blocks: [{ type: 'text', text: 'Advise.' }] }],
        settings: { maxTokens: 50 },
      },
      signal,
    );
    const stated = response.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return { result: { stated, model, costNanoUsd, generationId } };
  });
  const model: Model = ({ path, body }, at) => {
    if (path.endsWith('/messages')) return { text: 'Inner words.', promptTokens: 100, completionTokens: 50 };
    return at === 0 ? { calls: [{ name: 'service_files' }] } : { text: JSON.stringify(body['messages']) };
  };
  const NESTED_NANO_USD = 200_000;

  // @spec generation-3, tool-28
  test('is charged once, with a record of its own that names the request', async (t) => {
    const turns = await startToolTurns(t, model, { serverTools: [asks], yaml: CREDITS });
    await grant(turns.gateway, 1);
    const reported = await ask(turns, CHAT, { tools: FILES, user: 'somebody' });
    assert.match(reported.text, /Inner words\./);
    assert.equal(reported.usage['cost'], usd(2 * TURN_NANO_USD + NESTED_NANO_USD), 'the caller sees the sum');
    assert.deepEqual([reported.usage['prompt_tokens'], reported.usage['completion_tokens']], [120, 60]);
    const inner = /generationId[^g]*(gen-\d+-\w+)/.exec(reported.text)?.[1] ?? '';
    const record = await recordOf(turns.gateway, inner);
    assert.equal(record.requestId, reported.id);
    assert.equal(record.costNanoUsd, NESTED_NANO_USD);
    assert.equal((await recordOf(turns.gateway, reported.id)).costNanoUsd, 2 * TURN_NANO_USD);
    assert.equal(await spent(turns.gateway), usd(2 * TURN_NANO_USD + NESTED_NANO_USD));
  });

  // @spec rate-7
  test('takes no concurrency permit beside the request', async (t) => {
    const yaml = 'rate_limits: { key: { concurrent: 1 } }\n';
    const turns = await startToolTurns(t, model, { serverTools: [asks], yaml });
    const reported = await ask(turns, CHAT, { tools: FILES });
    assert.match(reported.text, /Inner words\./);
  });

  test('is an error of the tool when it is refused', async (t) => {
    const unknown = testTool('files', async ({ generate, signal }) => {
      await generate({ models: ['acme/nothing'], turns: [] }, signal);
      return { result: {} };
    });
    const turns = await startToolTurns(t, model, { serverTools: [unknown] });
    const reported = await ask(turns, CHAT, { tools: FILES });
    assert.match(reported.text, /acme\/nothing.{0,10} does not exist/);
  });

  // @spec request-30
  test('may call server tools itself, to a depth of two', async (t) => {
    const deeper = testTool('files', async ({ generate, signal }) => {
      const question = {
        models: ['acme/chat'],
        turns: [{ role: 'user' as const, blocks: [{ type: 'text' as const, text: 'Deeper.' }] }],
        tools: [{ type: 'server' as const, name: 'service:files' }],
      };
      const { response: answer } = await generate(question, signal);
      return { result: answer.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('') };
    });
    const ever: Model = ({ body }) => {
      const text = JSON.stringify(body['messages']);
      return text.includes('"tool"')
        ? { text: text.includes('nest deeper') ? 'Too deep.' : text }
        : { calls: [{ name: 'service_files' }] };
    };
    const turns = await startToolTurns(t, ever, { serverTools: [deeper] });
    const reported = await ask(turns, CHAT, { tools: FILES });
    assert.match(reported.text, /Too deep\./);
    assert.equal(turns.chat.arrived.length, 6, 'three requests of two turns each');
  });

  test('gets a maximum that its budget pays for', async (t) => {
    const frugal = testTool('files', async ({ generate, signal }) => {
      await generate(
        {
          models: ['acme/messages'],
          turns: [{ role: 'user', blocks: [{ type: 'text', text: 'Hi.' }] }],
          budgetNanoUsd: 100_000,
        },
        signal,
      );
      return { result: {} };
    });
    const turns = await startToolTurns(t, model, { serverTools: [frugal] });
    await ask(turns, CHAT, { tools: FILES });
    const limit = Number(turns.messages.arrived[0]?.body['max_tokens']);
    assert.ok(limit > 10 && limit <= 50, `${limit} tokens at 2,000 nano-USD`);
  });
});

// @spec chat-response-15
test('adds nothing to a response without server tools', async (t) => {
  const { gateway } = await startToolTurns(t, () => ({ text: 'Hi.' }));
  const reported = await ask({ gateway }, CHAT, {});
  assert.equal(reported.usage['server_tool_use_details'], undefined);
});
