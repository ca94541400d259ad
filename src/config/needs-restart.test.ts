import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from './config.ts';
import { loadConfig } from './load-config.ts';
import { needsRestart } from './needs-restart.ts';

function configOf(yaml: string): Config {
  return loadConfig({ argv: ['--config', 'x.yaml'], env: {}, readFile: () => yaml });
}

test('needs none for an equal configuration, and applies changed beta flags', () => {
  const running = configOf('server: { region: eu }');
  assert.deepEqual(needsRestart(running, configOf('server: { region: "eu" }')), []);
  assert.deepEqual(needsRestart(running, configOf('server: { region: eu }\nbeta_flags: { x: { allow: [a] } }')), []);
});

test('names every other change', () => {
  const running = configOf('server: { region: eu }');
  const next = configOf('server: { region: us }\nproviders: { x: { adapter: openai } }\ndefaults: { model: a/b }');
  assert.deepEqual(needsRestart(running, next).toSorted(), ['defaults', 'providers', 'server']);
});
