import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { json, startUpstream, type Arrived, type ScriptedUpstream } from '../support/upstream.ts';

const MESSAGES = [{ role: 'user', content: 'hi' }];

async function open(t: TestContext, more: string): Promise<{ gateway: RunningGateway; collector: ScriptedUpstream }> {
  const collector = await startUpstream(json(200, {}));
  const { origin } = new URL(collector.baseUrl);
  const gateway = await startGateway({
    yaml: `observability: { metrics_otlp: { endpoint: "${origin}", headers: { x-team: blue }, interval_s: 1${more} } }\n`,
  });
  t.after(async () => {
    await gateway.close();
    await collector.close();
  });
  return { gateway, collector };
}

async function generate(gateway: RunningGateway): Promise<void> {
  const answer = await gateway.post('/chat/completions', { model: 'sandbox/echo', messages: MESSAGES });
  assert.equal(answer.status, 200, await answer.text());
}

async function nextArrived({ arrived }: ScriptedUpstream, count: number): Promise<readonly Arrived[]> {
  for (let tries = 0; arrived.length < count; tries++) {
    assert.ok(tries < 400, `${arrived.length} of ${count} calls arrived`);
    await sleep(25);
  }
  return arrived;
}

const countOf = ({ text }: Arrived | { readonly text: '' }): number => {
  const [, tail = ''] = text.split('"name":"gen_ai.server.request.duration"');
  return Number(/"count":"(\d+)"/.exec(tail)?.[1] ?? 0);
};

suite('metrics of models', () => {
  // @spec destination-25
  test('are sent to a collector from time to time, with everything since the start', async (t) => {
    const { gateway, collector } = await open(t, '');
    await generate(gateway);
    const [first] = await nextArrived(collector, 1);
    assert.ok(first !== undefined);
    assert.deepEqual([first.path, first.headers['x-team']], ['/v1/metrics', 'blue']);
    for (const name of ['gen_ai.client.token.usage', 'gen_ai.client.operation.duration'])
      assert.ok(first.text.includes(`"name":"${name}"`), first.text);
    assert.match(first.text, /"service\.instance\.id"/);
    assert.match(first.text, /"aggregationTemporality":2/);
    await generate(gateway);
    const arrived = await nextArrived(collector, collector.arrived.length + 2);
    assert.equal(countOf(arrived.at(-1) ?? { text: '' }), 2);
  });

  // @spec destination-25
  test('have in a report what came since the one before, where the operator wants that', async (t) => {
    const { gateway, collector } = await open(t, ', temporality: delta');
    await generate(gateway);
    await nextArrived(collector, 1);
    await generate(gateway);
    const arrived = await nextArrived(collector, 2);
    assert.deepEqual(arrived.map(countOf), [1, 1]);
    assert.match(arrived[1]?.text ?? '', /"aggregationTemporality":1/);
  });

  // @spec destination-25
  test('delay no request and no end while the collector does not answer, and come with the next report', async (t) => {
    const { gateway, collector } = await open(t, '');
    collector.script = json(503, {});
    await generate(gateway);
    await nextArrived(collector, 2);
    collector.script = json(200, {});
    await generate(gateway);
    const before = collector.arrived.length;
    const arrived = await nextArrived(collector, before + 2);
    assert.equal(countOf(arrived.at(-1) ?? { text: '' }), 2, 'nothing is lost');
    collector.script = () => undefined;
    await generate(gateway);
    const startedMs = performance.now();
    await gateway.close();
    assert.ok(performance.now() - startedMs < 8_000, 'the end does not wait for it');
  });

  // @spec destination-25
  test('are sent once more at the end', async (t) => {
    const { gateway, collector } = await open(t, '');
    await generate(gateway);
    await gateway.close();
    assert.equal(countOf(collector.arrived.at(-1) ?? { text: '' }), 1);
  });
});
