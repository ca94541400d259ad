import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toYaml } from './yaml.ts';

test('nests values by their paths, each as JSON', () => {
  const leaves = [
    { path: 'server.port', value: 8787 },
    { path: 'server.host', value: '127.0.0.1' },
    { path: 'models', value: [] },
    { path: 'providers.alpha one.api_key', value: '(redacted)' },
    { path: 'console.allowed_hosts', value: {} },
  ];
  assert.equal(
    toYaml(leaves),
    [
      'server:',
      '  port: 8787',
      '  host: "127.0.0.1"',
      'models: []',
      'providers:',
      '  "alpha one":',
      '    api_key: "(redacted)"',
      'console:',
      '  allowed_hosts: {}',
    ].join('\n'),
  );
});
