import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { checkPart, markdownTable } from '../support/docs/generated-page.ts';

interface MetricFacts {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** The library keeps what a metric was made with, without saying so. */
function factsOf(metric: object): MetricFacts {
  const { name, help, labelNames = [] } = metric as { name: string; help: string; labelNames?: readonly string[] };
  return { name, help, labels: labelNames, type: metric.constructor.name.toLowerCase() };
}

function listMetrics(): readonly MetricFacts[] {
  const metrics = createMetrics();
  metrics.watchJournal(() => ({ bytes: 0, unwritten: 0, unapplied: 0, behindMs: 0 }));
  metrics.watchCircuits(() => []);
  return metrics.list().map(factsOf);
}

test('lists every metric on the page of observability', () => {
  const rows = listMetrics().map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help.replaceAll('|', '\\|'),
  ]);
  assert.ok(rows.length > 30, 'there are metrics to list');
  checkPart(
    { page: 'observability.md', name: 'metrics' },
    markdownTable(['metric', 'type', 'labels', 'meaning'], rows),
  );
});

test('uses no label that Prometheus reserves', () => {
  for (const { name, labels } of listMetrics()) {
    // Of the library's own summaries it is the right one.
    if (!name.startsWith('gateway_')) continue;
    for (const label of labels) assert.ok(!/^(?:le|quantile|__.*)$/.test(label), `${name} has ${label}`);
  }
});
