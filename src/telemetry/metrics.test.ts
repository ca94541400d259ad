import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, type Metrics } from './metrics.ts';

async function valueOf(metrics: Metrics, series: string): Promise<string | undefined> {
  const line = (await metrics.text()).split('\n').find((one) => one.startsWith(`${series} `));
  return line?.slice(series.length + 1);
}

test('adds counts between two reads once', async () => {
  const metrics = createMetrics();
  const refusals = 'gateway_requests_total{format="chat",model="none",provider="none",status="401"}';
  assert.equal(await valueOf(metrics, refusals), undefined);
  metrics.refused('chat', 401);
  metrics.refused('chat', 401);
  assert.equal(await valueOf(metrics, refusals), '2');
  assert.equal(await valueOf(metrics, refusals), '2');
  metrics.refused('chat', 401);
  metrics.refused('messages', 401);
  assert.equal(await valueOf(metrics, refusals), '3');
});
