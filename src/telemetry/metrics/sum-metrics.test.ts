import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePrometheus } from '../../../tests/support/http/prometheus.ts';
import { createMetrics } from '../metrics.ts';
import { sumMetrics } from './sum-metrics.ts';

/** What a process writes of one metric. */
function metric(name: string, type: string, ...samples: readonly string[]): string {
  return `# HELP ${name} Help.\n# TYPE ${name} ${type}\n${samples.map((sample) => `${name}${sample}\n`).join('')}`;
}

function summed(...texts: readonly string[]): ReadonlyMap<string, number> {
  const samples = parsePrometheus(sumMetrics(texts.map((text, at) => ({ worker: String(at), text }))));
  return new Map(samples.map(({ name, labels, value }) => [`${name} ${JSON.stringify(labels)}`, value]));
}

test('adds counters, gauges and histograms by their labels', () => {
  const sums = summed(
    metric('requests_total', 'counter', '{status="200"} 3', '{status="500"} 1'),
    `${metric('requests_total', 'counter', '{status="200"} 4', '{status="429"} 2')}\n${metric('open', 'gauge', ' 5')}`,
    metric('time', 'histogram', '_bucket{le="+Inf"} 2', '_sum 0.5', '_count 2'),
    metric('time', 'histogram', '_bucket{le="+Inf"} 3', '_sum 0.25', '_count 3'),
  );
  assert.deepEqual(Object.fromEntries(sums), {
    'requests_total {"status":"200"}': 7,
    'requests_total {"status":"500"}': 1,
    'requests_total {"status":"429"}': 2,
    'open {}': 5,
    'time_bucket {"le":"+Inf"}': 5,
    'time_sum {}': 0.75,
    'time_count {}': 5,
  });
});

test('keeps what speaks of one process apart, with a label', () => {
  const sums = summed(
    `${metric('process_cpu_seconds_total', 'counter', ' 1')}${metric('nodejs_active', 'gauge', '{type="x"} 2')}`,
    metric('process_cpu_seconds_total', 'counter', ' 3'),
  );
  assert.deepEqual(Object.fromEntries(sums), {
    'process_cpu_seconds_total {"worker":"0"}': 1,
    'nodejs_active {"type":"x","worker":"0"}': 2,
    'process_cpu_seconds_total {"worker":"1"}': 3,
  });
});

test('says once what all processes see', () => {
  const sums = summed(
    `${metric('gateway_build_info', 'gauge', '{version="1"} 1')}${metric('gateway_shared_state_up', 'gauge', '{by="redis"} 1')}`,
    `${metric('gateway_build_info', 'gauge', '{version="1"} 1')}${metric('gateway_shared_state_up', 'gauge', '{by="redis"} 0')}`,
  );
  assert.deepEqual([...sums.values()], [1, 0]);
});

test('sums up what the gateway writes into text that is as strict', async () => {
  const processes = [createMetrics('1.0.0'), createMetrics('1.0.0')];
  for (const process of processes) process.refused('chat', 401);
  const texts = await Promise.all(processes.map((process) => process.text()));
  const sums = summed(...texts);
  const one = [...sums].filter(([name]) => name.startsWith('gateway_requests_total'));
  assert.deepEqual(
    one.map(([, value]) => value),
    [2],
  );
  for (const { name } of parsePrometheus(texts[0] ?? ''))
    assert.ok(
      [...sums.keys()].some((key) => key.startsWith(name)),
      `${name} is not lost`,
    );
});
