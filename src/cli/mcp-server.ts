import { endConnection } from '../accounts/connections/connections.ts';
import { createKeys } from '../accounts/keys/keys.ts';
import type { Config } from '../config/config.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import { systemClock } from '../lib/clock.ts';
import { createKeyStore } from '../store/accounts/keys.ts';
import { createMcpConnectionStore, type McpConnectionStore } from '../store/connections/connections.ts';
import { openAuditTrail } from './audit/audit-trail.ts';
import { CommandError, unknownVerb, UsageError, type Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';
import { openConfiguredDatabase } from './open-database.ts';

const FLAGS = { ...CONFIG_FLAGS } as const;
const VERBS = ['status', 'connections', 'revoke'] as const;

const LISTED_MAX = 1_000;

/** `model-gateway mcp-server`: works on the store itself; a running gateway ends what is revoked within seconds. */
export async function runMcpServer(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [word = '', operand, surplus] = words;
  const verb = VERBS.find((known) => known === word);
  if (verb === undefined) throw unknownVerb('mcp-server', word, VERBS);
  if (verb === 'revoke' && operand === undefined) throw new UsageError('mcp-server revoke: name a connection');
  const extra = verb === 'revoke' ? surplus : operand;
  if (extra !== undefined) throw new UsageError(`mcp-server ${verb}: ${extra}: unexpected argument`);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const database = await openConfiguredDatabase(config, { makes: false });
  try {
    const store = createMcpConnectionStore({ database });
    // Programs name themselves; a terminal must not obey what they say.
    const print = (line: string): void => void io.stdout.write(`${line.replace(/\p{Cc}/gu, ' ')}\n`);
    if (verb === 'status') await showStatus(config, store, print);
    else if (verb === 'connections') await list(store, print);
    else {
      const id = operand ?? '';
      const found = await store.find(id);
      const keys = createKeys({ store: createKeyStore({ database }), clock: systemClock });
      if (found === undefined || !(await endConnection({ store, keys, clock: systemClock }, found)))
        throw new CommandError(`There is no connection ${id}; \`model-gateway mcp-server connections\` lists them.`);
      await openAuditTrail(database, io)('mcp-server revoke', `/connections/${id}`, { client_id: found.clientId });
    }
    return 0;
  } finally {
    await database.close();
  }
}

async function showStatus(
  { mcpServer, server }: Config,
  store: McpConnectionStore,
  print: (line: string) => void,
): Promise<void> {
  const { enabled, oauth, registration, clientDocuments, clients, tools } = mcpServer;
  print(`the MCP server is ${enabled ? 'on' : 'off (mcp_server.enabled)'}`);
  print(`address: ${server.publicUrl ?? `http://${server.host}:${server.port}`}/mcp`);
  print(`tools: ${tools.join(', ')}`);
  const who = [...(clientDocuments ? ['documents'] : []), ...(registration ? ['registration'] : [])];
  print(oauth ? `OAuth: on, for ${[...who, `${clients.length} configured`].join(', ')}` : 'OAuth: off');
  print(`connections: ${(await store.list(systemClock.nowMs(), LISTED_MAX)).length}`);
}

async function list(store: McpConnectionStore, print: (line: string) => void): Promise<void> {
  for (const row of await store.list(systemClock.nowMs(), LISTED_MAX)) {
    const { id, clientName, clientHost, scopes, lastUsedAtMs, expiresAtMs } = row;
    const used = lastUsedAtMs === null ? 'never used' : `last used ${new Date(lastUsedAtMs).toISOString()}`;
    const ends = expiresAtMs === null ? 'no end' : `until ${new Date(expiresAtMs).toISOString()}`;
    print(`${id}  ${clientHost ?? 'no host'}  ${scopes.join(' ')}  ${used}  ${ends}  ${clientName}`);
  }
}
