import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createKeys } from '../../src/accounts/keys/keys.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createKeyStore } from '../../src/store/accounts/keys.ts';
import { createMcpConnectionStore } from '../../src/store/connections/connections.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { DEFAULT_WORKSPACE_ID } from '../../src/accounts/principal.ts';
import { captureCli } from '../support/cli/capture-cli.ts';
import { makeFolder } from '../support/cli/spawn-cli.ts';

// @spec own-mcp-13
test('shows what is served, lists connections, and ends one with its key', async (t) => {
  const dataDir = makeFolder(t);
  const config = join(dataDir, 'gateway.yaml');
  writeFileSync(config, 'mcp_server: { enabled: true, oauth: true, tools: [credits] }\n');
  const open = () => openDatabase({ path: join(dataDir, 'gateway.db'), clock: systemClock });
  const database = await open();
  const keys = createKeys({ store: createKeyStore({ database }), clock: systemClock });
  const { record } = await keys.create({ name: 'MCP: Editor' });
  await createMcpConnectionStore({ database }).insert(
    {
      id: 'c-1',
      keyHash: record.hash,
      issuerKeyHash: record.hash,
      userId: null,
      clientId: 'https://editor.example/client.json',
      clientName: 'Editor\u001b[31m',
      clientHost: 'editor.example',
      workspaceId: DEFAULT_WORKSPACE_ID,
      scopes: ['mcp:read'],
      resource: 'http://127.0.0.1:8787/mcp',
      createdAtMs: systemClock.nowMs(),
      expiresAtMs: null,
      lastUsedAtMs: null,
      revokedAtMs: null,
    },
    [{ tokenHash: 'ab'.repeat(32), connectionId: 'c-1', kind: 'refresh', expiresAtMs: null, usedAtMs: null }],
  );
  await database.close();
  const mcp = (...args: readonly string[]) =>
    captureCli(['mcp-server', ...args, '--data-dir', dataDir, '--config', config]);
  const { stdout } = await mcp('status');
  assert.match(
    stdout,
    /^the MCP server is on\naddress: .*\/mcp\ntools: credits\nOAuth: on, for documents, 0 configured\nconnections: 1\n$/,
  );
  const listed = await mcp('connections');
  assert.equal(listed.stdout, 'c-1  editor.example  mcp:read  never used  no end  Editor [31m\n');
  assert.deepEqual(await mcp('revoke', 'c-1'), { code: 0, stdout: '', stderr: '' });
  assert.equal((await mcp('connections')).stdout, '');
  assert.equal((await mcp('revoke', 'c-1')).code, 1);
  const after = await open();
  const row = await createKeyStore({ database: after }).find(record.hash);
  await after.close();
  assert.equal(row, undefined);
});
