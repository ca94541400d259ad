import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { ConfigError } from './config-error.ts';
import type { Config } from './config.ts';
import { loadConfig } from './load-config.ts';
import { renderConfig } from './render.ts';

function load(text: string): Config {
  return loadConfig({ argv: ['--config', 'gateway.yaml'], env: { TOKEN: 'hunter22' }, readFile: () => text });
}

function refusalOf(entry: string, name = 'tests'): string {
  try {
    load(`mcp_servers:\n  ${name}: ${entry}\n`);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message;
  }
  return assert.fail('nothing was refused');
}

const EXAMPLE = `
mcp_servers:
  files: { command: npx, args: [-y, server, "--token=\${TOKEN}"], env: { TOKEN: "\${TOKEN}" }, cwd: /srv, uid: 1000, gid: 1001, tools: [read_*] }
  wiki:
    url: https://wiki.test/mcp?key=\${TOKEN}
    headers: { authorization: "Bearer \${TOKEN}" }
    timeout_ms: 5000
    trace_context: true
    enabled: false
    workspaces: [00000000-0000-4000-8000-000000000001]
    keys: [${'ab'.repeat(32)}]
`;

test('accepts a process or an address as an entry, with defaults for what it omits', () => {
  assert.deepEqual(load(EXAMPLE).mcpServers, [
    {
      name: 'files',
      enabled: true,
      callMsMax: 60_000,
      tools: ['read_*'],
      transport: 'stdio',
      command: 'npx',
      args: ['-y', 'server', '--token=hunter22'],
      env: { TOKEN: 'hunter22' },
      cwd: '/srv',
      uid: 1_000,
      gid: 1_001,
    },
    {
      name: 'wiki',
      enabled: false,
      callMsMax: 5_000,
      sendsTraceContext: true,
      workspaces: ['00000000-0000-4000-8000-000000000001'],
      keys: ['ab'.repeat(32)],
      transport: 'http',
      url: 'https://wiki.test/mcp?key=hunter22',
      headers: { authorization: 'Bearer hunter22' },
    },
  ]);
});

test('hides what may be a credential, and shows everything else', () => {
  const formatted = renderConfig(load(EXAMPLE));
  assert.doesNotMatch(formatted, /hunter22/);
  const { mcp_servers: servers } = parse(formatted) as { readonly mcp_servers: Readonly<Record<string, object>> };
  assert.deepEqual(servers, {
    files: {
      command: 'npx',
      args: ['(redacted)', '(redacted)', '(redacted)'],
      env: { TOKEN: '(redacted)' },
      cwd: '/srv',
      uid: 1_000,
      gid: 1_001,
      tools: ['read_*'],
      timeout_ms: 60_000,
      enabled: true,
    },
    wiki: {
      url: 'https://wiki.test/mcp?(redacted)',
      headers: { authorization: '(redacted)' },
      timeout_ms: 5_000,
      trace_context: true,
      enabled: false,
      workspaces: ['00000000-0000-4000-8000-000000000001'],
      keys: ['ab'.repeat(32)],
    },
  });
});

suite('refused, at its place', () => {
  const cases: readonly (readonly [what: string, entry: string, message: RegExp])[] = [
    ['neither an address nor a command', '{}', /:2: mcp_servers\.tests: must have either url or command$/],
    ['both', '{ url: "http://a.test", command: a }', /mcp_servers\.tests: must have either url or command$/],
    [
      'arguments of an address',
      '{ url: "http://a.test", args: [a] }',
      /mcp_servers\.tests\.args: goes with command, not with url$/,
    ],
    [
      'headers of a process',
      '{ command: a, headers: { a: b } }',
      /mcp_servers\.tests\.headers: goes with url, not with command$/,
    ],
    [
      'an address of another kind',
      '{ url: "ftp://a.test" }',
      /mcp_servers\.tests\.url: must be an http:\/\/ or https:\/\/ URL/,
    ],
    ['a misspelt member', '{ command: a, timout_ms: 5 }', /mcp_servers\.tests\.timout_ms: .*timeout_ms/],
    ['a time that no timer takes', '{ command: a, timeout_ms: 99999999 }', /timeout_ms: must be at most 3600000/],
    ['a user without a group', '{ command: a, uid: 1000 }', /mcp_servers\.tests\.gid: is required where uid is set$/],
    ['a user of an address', '{ url: "http://a.test", uid: 1, gid: 1 }', /tests\.uid: goes with command, not with url/],
    ['a key that is no hash', '{ command: a, keys: [me] }', /keys\[0\]: must be the hash of an API key$/],
    ['a header that belongs to the connection', '{ url: "http://a.test", headers: { host: b } }', /headers\.host/],
  ];
  for (const [what, entry, message] of cases)
    test(what, () => {
      assert.match(refusalOf(entry), message);
    });

  test('rejects a name that functions cannot have', () => {
    for (const name of ['My_Server', 'a.b', '-a', 'a'.repeat(33)])
      assert.match(refusalOf('{ command: a }', name), /must be 1 to 32 of a-z, 0-9 and "-"/);
  });
});
