import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';
import { stringify } from 'yaml';
import * as z from 'zod';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { ROOT } from '../support/cli/spawn-cli.ts';

const DASHBOARD = z.object({
  uid: z.string(),
  templating: z.object({ list: z.array(z.looseObject({ name: z.string(), definition: z.string().optional() })) }),
  panels: z.array(
    z.looseObject({
      id: z.int(),
      type: z.enum(['row', 'stat', 'timeseries']),
      title: z.string(),
      gridPos: z.object({ x: z.int().min(0), y: z.int().min(0), w: z.int().max(24), h: z.int() }),
      targets: z
        .array(
          z.object({
            expr: z.string(),
            legendFormat: z.string(),
            refId: z.string(),
            datasource: z.object({ type: z.literal('prometheus'), uid: z.literal('${datasource}') }),
          }),
        )
        .optional(),
    }),
  ),
});
const { templating, panels } = DASHBOARD.parse(
  JSON.parse(readFileSync(path.join(ROOT, 'deploy/grafana/model-gateway.json'), 'utf8')),
);
const targets = panels.flatMap(({ title, targets: some = [] }) =>
  some.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
);
/** Of Prometheus itself: what it adds to each series. */
const TARGET_LABELS = ['job', 'instance', 'le'];
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** The labels of each metric, by its name and, of a histogram, the names of its series. */
function listLabels(): ReadonlyMap<string, readonly string[]> {
  const metrics = createMetrics();
  metrics.watchJournal(() => ({ bytes: 0, unwritten: 0, unapplied: 0, behindMs: 0 }));
  metrics.watchCircuits(() => []);
  return new Map(
    metrics.list().flatMap((metric) => {
      const { name, labelNames = [] } = metric as { name: string; labelNames?: readonly string[] };
      const labels = [...labelNames, ...TARGET_LABELS];
      const isHistogram = metric.constructor.name === 'Histogram';
      return (isHistogram ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name]).map(
        (one) => [one, labels] as const,
      );
    }),
  );
}

suite('the dashboard for Grafana', () => {
  const labelsOf = listLabels();
  const queries = [
    ...targets.map(({ title, expr }) => [title, expr] as const),
    ...templating.list.map(({ name, definition = '' }) => [name, definition] as const),
  ];

  test('shows metrics and labels that exist', () => {
    let found = 0;
    for (const [title, expr] of queries)
      for (const [, name = '', selector = ''] of expr.matchAll(/\b((?:gateway|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)) {
        found++;
        const labels = labelsOf.get(name);
        assert.ok(labels !== undefined, `${title}: ${name}`);
        for (const [, label = ''] of selector.matchAll(/(\w+)[=!]/g))
          assert.ok(labels.includes(label), `${title}: ${name} has no ${label}`);
      }
    assert.ok(found > 30);
  });

  test('groups and names series by labels of their metrics', () => {
    for (const { title, expr, legendFormat } of targets) {
      const names = [...expr.matchAll(/\b(?:gateway|process)_\w+/g)].map(([name]) => name);
      const known = new Set(names.flatMap((name) => labelsOf.get(name) ?? []));
      for (const [, list = ''] of expr.matchAll(/\bby \(([^)]*)\)/g))
        for (const label of list.split(',')) assert.ok(known.has(label.trim()), `${title}: ${label}`);
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        assert.ok(known.has(label), `${title}: ${label}`);
        assert.match(expr, new RegExp(`by \\([^)]*\\b${label}\\b`), `${title}: a series has ${label}`);
      }
    }
  });

  test('uses variables that it has, and has no two panels in one place', () => {
    const names = new Set(templating.list.map(({ name }) => name));
    for (const [title, expr] of queries)
      for (const [, name = ''] of expr.matchAll(/\$(?!__)\{?(\w+)/g)) assert.ok(names.has(name), `${title}: $${name}`);
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const taken = new Set<string>();
    for (const { title, gridPos } of panels)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.ok(x < 24 && !taken.has(`${x},${y}`), `${title} at ${x},${y}`);
          taken.add(`${x},${y}`);
        }
  });

  test('has queries that Prometheus can read', { skip: hasPromtool ? false : 'promtool is not installed' }, (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'grafana-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const rules = targets.map(({ expr }, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*'),
    }));
    const file = path.join(folder, 'rules.yaml');
    writeFileSync(file, stringify({ groups: [{ name: 'panels', rules }] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });
});
