import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { manage, textAt } from '../support/byok.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

interface Sent {
  readonly type: string;
  readonly data: { readonly severity: string; readonly values: Record<string, unknown> };
}

suite('budgets and destinations that reach a channel', () => {
  let upstream: ScriptedUpstream;
  let receiver: ScriptedUpstream;
  let gone: ScriptedUpstream;
  let gateway: RunningGateway;
  before(async () => {
    const usage = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
    upstream = await startUpstream(json(200, chatAnswer('hi', { usage })));
    receiver = await startUpstream(json(200, {}));
    gone = await startUpstream(json(410, {}));
    gateway = await startGateway({
      notificationTickMs: 5,
      jobTimes: { tickMs: 5 },
      yaml: `
credits: { enforce: true }
observability: { private_destinations: true }
notifications: { private_addresses: true }
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }] }
`,
    });
    const hook = { name: 'all', kind: 'webhook', url: `${receiver.baseUrl}/hook`, events: ['*'], max_per_hour: 1_000 };
    assert.equal((await manage(gateway, 'POST', '/notifications/channels', hook)).status, 201);
    const granted = await manage(gateway, 'POST', '/credits/grants', { amount: 1, note: 'for the test' });
    assert.equal(granted.status, 201, granted.text);
  });
  after(async () => {
    await gateway.close();
    await Promise.all([upstream.close(), receiver.close(), gone.close()]);
  });

  async function arrived(type: string): Promise<Sent> {
    for (let tries = 0; tries < 600; tries++) {
      const found = receiver.arrived.map(({ body }) => body as unknown as Sent).find((sent) => sent.type === type);
      if (found !== undefined) return found;
      await pause(10);
    }
    return assert.fail(`${type} has not arrived, but ${receiver.arrived.map(({ body }) => body['type']).join(' ')}`);
  }

  async function generate(key: string): Promise<void> {
    const messages = [{ role: 'user', content: 'hi' }];
    const body = { model: 'acme/one', messages, max_tokens: 100 };
    const response = await gateway.post('/chat/completions', body, { authorization: `Bearer ${key}` });
    assert.equal(response.status, 200, await response.text());
  }

  // @spec notification-2
  test('are credit that is low, and a budget of a workspace of which 80 % are spent', async () => {
    const budget = await manage(gateway, 'PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0012 });
    assert.equal(budget.status, 200, budget.text);
    // The key of the environment is in no table.
    await generate(API_KEY);
    const spent = await arrived('workspace.budget');
    assert.deepEqual([spent.data.severity, spent.data.values['percent']], ['warning', 80]);
    const low = await arrived('credits.low');
    assert.deepEqual([low.data.severity, low.data.values['balance_usd']], ['warning', 0.999]);
    assert.equal((await manage(gateway, 'DELETE', '/workspaces/default/budgets/daily')).status, 200);
  });

  // @spec destination-10
  test('are a destination that was switched off, since its address says that it is gone', async () => {
    await manage(gateway, 'PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
    const config = { url: `${gone.baseUrl}/spans` };
    const draft = { type: 'webhook', name: 'Gone', config, skip_test: true };
    assert.equal((await manage(gateway, 'POST', '/observability/destinations', draft)).status, 201);
    await generate(textAt((await manage(gateway, 'POST', '/keys', { name: 'ci' })).body, 'key'));
    const { data } = await arrived('destination.disabled');
    assert.deepEqual([data.severity, data.values['destination']], ['warning', 'Gone']);
  });
});
