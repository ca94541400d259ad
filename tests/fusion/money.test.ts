import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import type { RunningGateway } from '../support/gateway.ts';
import { requestedOf, fusionTool, PANEL, resultRead, states, startPanel } from '../support/panel.ts';
import { objectOf } from '../support/reported.ts';
import { ask, recordOf, testTool, type Asking } from '../support/tool-turns.ts';
import { json } from '../support/upstream.ts';

const CHAT: Asking = { format: 'chat', model: 'acme/outer', stream: true };
const CREDITS = { yaml: 'credits: { enforce: true }\n' };
/** 10 prompt tokens at 1 USD and 5 at 2 USD a million. */
const TURN_NANO_USD = 20_000;

const usd = (nano: number): number => nano / 1e9;

async function grant(gateway: RunningGateway, amount: number): Promise<void> {
  const { status, text } = await manage(gateway, 'POST', '/credits/grants', { amount, note: 'for the test' });
  assert.ok(status < 300, text);
}

async function spent(gateway: RunningGateway): Promise<number> {
  const { body } = await manage(gateway, 'GET', '/credits');
  return Number(objectOf(body['data'])['total_usage']);
}

/** What each of them was allowed to write, in tokens. */
const limitsOf = (arrived: readonly { readonly body: Record<string, unknown> }[]): readonly number[] =>
  arrived.map(({ body }) => Number(body['max_tokens'] ?? body['max_completion_tokens']));

suite('a panel', () => {
  // @spec fusion-16
  test('costs the sum of all its calls, charged once', async (t) => {
    const { gateway } = await startPanel(t, states, CREDITS);
    await grant(gateway, 1);
    const reported = await ask({ gateway }, CHAT, { tools: [fusionTool()], max_tokens: 100 });
    // Two turns of the outer model, three members, and the analyst.
    assert.equal(reported.usage['cost'], usd(6 * TURN_NANO_USD));
    assert.deepEqual([reported.usage['prompt_tokens'], reported.usage['completion_tokens']], [60, 30]);
    assert.equal((await recordOf(gateway, reported.id)).costNanoUsd, 2 * TURN_NANO_USD);
    assert.equal(await spent(gateway), usd(6 * TURN_NANO_USD));
  });

  test('is an error result when no member can be paid', async (t) => {
    const turns = await startPanel(t, states, CREDITS);
    await grant(turns.gateway, 0.001);
    const reported = await ask(turns, CHAT, { tools: [fusionTool()], max_tokens: 100 });
    assert.match(reported.text, /tea\.$/);
    assert.equal(resultRead(turns)['failure_reason'], 'insufficient_credits');
    assert.equal(requestedOf(turns, 'one').length, 0);
    assert.equal(await spent(turns.gateway), usd(2 * TURN_NANO_USD));
  });

  test('is an error result when a budget pays for no member', async (t) => {
    const turns = await startPanel(t, states);
    const workspaces = await manage(turns.gateway, 'GET', '/workspaces');
    const [workspace] = workspaces.body['data'] as JsonObject[];
    assert.ok(workspace !== undefined);
    const guardrail = `/guardrails/${textAt(workspace, 'default_guardrail_id')}`;
    assert.equal((await manage(turns.gateway, 'PATCH', guardrail, { limit_usd: 0.001 })).status, 200);
    const reported = await ask(turns, CHAT, { tools: [fusionTool()], max_tokens: 100 });
    assert.match(reported.text, /tea\.$/);
    const { failure_reason: reason, failed_models: lost } = resultRead(turns);
    assert.equal(reason, 'insufficient_credits');
    assert.match(JSON.stringify(lost), /A guardrail leaves this caller .*"status_code":403/);
  });

  test('runs in parallel when the outer request has no maximum', async (t) => {
    const turns = await startPanel(t, states, CREDITS);
    await grant(turns.gateway, 0.2);
    const reported = await ask(turns, CHAT, { tools: [fusionTool()] });
    assert.match(reported.text, /tea\.$/);
    assert.equal((resultRead(turns)['responses'] as readonly JsonObject[]).length, PANEL.length);
    assert.equal(await spent(turns.gateway), usd(6 * TURN_NANO_USD));
  });

  // @spec fusion-16
  test('continues with the members that can be paid', async (t) => {
    const turns = await startPanel(t, states, CREDITS);
    // Enough for two answers of 16,000 tokens at once.
    await grant(turns.gateway, 0.08);
    await ask(turns, CHAT, { tools: [fusionTool()], max_tokens: 100 });
    const result = resultRead(turns);
    assert.equal((result['responses'] as readonly JsonObject[]).length, 2);
    const [failed] = result['failed_models'] as readonly JsonObject[];
    assert.equal(failed?.['status_code'], 402);
  });

  test('is charged for its tools when it fails, and the caller sees it', async (t) => {
    const paid = testTool('files', () => Promise.resolve({ result: {}, feeNanoUsd: 5_000 }));
    const { gateway } = await startPanel(
      t,
      (who, arrived, turn) => {
        if (who !== 'one') return states(who, arrived);
        return turn === 0 ? { calls: [{ name: 'service_files' }] } : json(400, { error: { message: 'no' } });
      },
      { ...CREDITS, serverTools: [paid] },
    );
    await grant(gateway, 1);
    const panel = { analysis_models: ['acme/one'], tools: [{ type: 'service:files' }] };
    const reported = await ask({ gateway }, CHAT, { tools: [fusionTool(panel)], max_tokens: 100 });
    assert.equal(reported.usage['cost'], usd(2 * TURN_NANO_USD + 5_000));
    assert.equal(await spent(gateway), usd(2 * TURN_NANO_USD + 5_000));
  });
});

suite('max_cost of the caller', () => {
  const bounded = (dollars: number): object => ({
    tools: [fusionTool()],
    max_tokens: 100,
    stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: dollars }],
  });

  // @spec fusion-17
  test('limits every member to an equal share', async (t) => {
    const turns = await startPanel(t);
    const reported = await ask(turns, CHAT, bounded(0.01));
    assert.match(reported.text, /tea\.$/);
    const requested = [...PANEL, 'acme/judge'].flatMap((slug) => requestedOf(turns, slug.slice(5) as 'one'));
    assert.equal(requested.length, 4);
    // A fifth of a cent, at 2 micro-USD a token.
    for (const limit of limitsOf(requested)) assert.ok(limit > 100 && limit < 1_000, `${limit} tokens`);
  });

  test('gives an error result when it pays for no member', async (t) => {
    const turns = await startPanel(t);
    const reported = await ask(turns, CHAT, bounded(0.0001));
    assert.match(reported.text, /tea\.$/);
    assert.equal(resultRead(turns)['failure_reason'], 'insufficient_credits');
    assert.equal(requestedOf(turns, 'one').length, 0);
  });
});
