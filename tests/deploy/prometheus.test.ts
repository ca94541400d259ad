import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import * as z from 'zod';
import { ROOT } from '../support/cli/spawn-cli.ts';

const FOLDER = join(ROOT, 'deploy/prometheus');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { groups } = z
  .object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.object({
            alert: z.string(),
            expr: z.string(),
            annotations: z.object({ summary: z.string(), runbook: z.string() }),
          }),
        ),
      }),
    ),
  })
  .parse(parse(read('deploy/prometheus/rules.yaml')));
const rules = groups.flatMap((group) => group.rules);
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

suite('the alerts of Prometheus', () => {
  test('ask for metrics and labels that exist', () => {
    const page = read('docs/observability.md');
    const labelsOf = new Map(
      [...page.matchAll(/^\| `(\w+)` \| \w+ \| (.*?) \|/gm)].map(([, name = '', labels = '']) => [name, labels]),
    );
    assert.ok(labelsOf.size > 30, 'the page lists all metrics');
    for (const { alert, expr } of rules)
      for (const [, name = '', selector = ''] of expr.matchAll(/(gateway_\w+)(?:\{([^}]*)\})?/g)) {
        const labels = labelsOf.get(name);
        assert.ok(labels !== undefined, `${alert}: ${name}`);
        for (const [, label = ''] of selector.matchAll(/(\w+)=/g))
          assert.ok(labels.includes(`\`${label}\``), `${alert}: ${name} has no ${label}`);
      }
  });

  test('have a section each on the page of incidents, which has no other', () => {
    const sections = [...read('docs/incidents.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    assert.deepEqual(
      rules.map(({ alert }) => alert),
      sections,
    );
    for (const { alert, annotations } of rules)
      assert.equal(annotations.runbook, `docs/incidents.md#${alert.toLowerCase()}`);
  });

  test('are each tried', () => {
    const tried = new Set(
      [...read('deploy/prometheus/rules.test.yaml').matchAll(/alertname: (\w+)/g)].map(([, name]) => name),
    );
    assert.deepEqual(
      rules.map(({ alert }) => alert).filter((alert) => !tried.has(alert)),
      [],
    );
  });

  test('fire when they should', { skip: !hasPromtool && 'promtool is not installed' }, () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'rules.test.yaml'], {
      cwd: FOLDER,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout + stderr);
  });
});
