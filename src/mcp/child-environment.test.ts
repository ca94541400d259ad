import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCause, inheritedEnvironment } from './child-environment.ts';

test('removes the folders of npm from PATH, and passes nothing but PATH and HOME', () => {
  const env = {
    PATH: '/srv/gateway/node_modules/.bin:/srv/node_modules/.bin/:/usr/lib/node_modules/npm/node_modules/@npmcli/run-script/lib/node-gyp-bin:/usr/local/bin:/usr/bin',
    HOME: '/root',
    npm_config_registry: 'https://other.example',
    npm_config_global_prefix: '/srv',
    GATEWAY_SECRET: 'x',
  };
  assert.deepEqual(inheritedEnvironment(env), { PATH: '/usr/local/bin:/usr/bin', HOME: '/root' });
});

test('keeps a PATH that holds nothing else, and leaves out what is not set', () => {
  assert.deepEqual(inheritedEnvironment({ PATH: '/srv/node_modules/.bin' }), { PATH: '/srv/node_modules/.bin' });
  assert.deepEqual(inheritedEnvironment({}), {});
});

test('finds the line that says why a process ended', () => {
  const npm = [
    'npm error code E404',
    'npm error 404 Not Found - GET https://registry.example/some-mcp-server - Not found',
    'npm error 404',
    'npm error A complete log of this run can be found in: /root/.npm/_logs/x.log',
  ];
  assert.equal(findCause(npm), 'npm error 404 Not Found - GET https://registry.example/some-mcp-server - Not found');
  const node = [
    'node:internal/modules/cjs/loader:1',
    '  throw err;',
    "Error: Cannot find module 'x'",
    'Node.js v24.1.0',
  ];
  assert.equal(findCause(node), "Error: Cannot find module 'x'");
  assert.equal(findCause(['ready with a token']), 'ready with a token');
  assert.equal(findCause([]), undefined);
});
