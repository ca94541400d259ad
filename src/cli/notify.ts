import { createSecrets } from '../accounts/byok/secrets.ts';
import { openVaultArea } from '../app/vault/vault-area.ts';
import { openSenders } from '../app/notifications/open-notifications.ts';
import type { Config } from '../config/config.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { systemClock as clock } from '../lib/clock.ts';
import { createChannels, type ChannelRecord, type Channels } from '../notifications/channels.ts';
import type { Database } from '../store/engine/database.ts';
import { createChannelStore } from '../store/notifications/channels.ts';
import { createRoleAddresses } from '../store/notifications/role-addresses.ts';
import { createOutbox } from '../store/notifications/outbox.ts';
import { CommandError, UsageError, type Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';
import { openConfiguredDatabase } from './open-database.ts';

const FLAGS = { ...CONFIG_FLAGS, json: { type: 'boolean' } } as const;
const LISTED_MAX = 100;

/** `model-gateway notify list|test CHANNEL`: where operators are notified, and whether it arrives. */
export async function runNotify(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [verb, channel, extra] = words;
  if (verb !== 'list' && verb !== 'test') throw new UsageError('notify: say what to do: list or test CHANNEL');
  if ((verb === 'test') !== (channel !== undefined))
    throw new UsageError(
      `notify ${verb}: ${verb === 'test' ? 'name the channel, by its name or id' : `${channel}: unexpected argument`}`,
    );
  if (extra !== undefined) throw new UsageError(`notify ${verb}: ${extra}: unexpected argument`);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const database = await openConfiguredDatabase(config, { makes: false });
  const { channels, close } = openChannels(config, database);
  try {
    const { rows } = await channels.list({ offset: 0, limit: LISTED_MAX });
    if (channel !== undefined) return await test(channels, rows, channel, io);
    for (const row of rows) io.stdout.write(`${values.json === true ? formatJson(row) : formatLine(row)}\n`);
    return 0;
  } finally {
    await close();
    await database.close();
  }
}

async function test(channels: Channels, rows: readonly ChannelRecord[], wanted: string, io: Io): Promise<number> {
  const found = rows.find(({ id, name }) => id === wanted || name === wanted);
  if (found === undefined)
    throw new CommandError(`${wanted}: there is no such channel; \`model-gateway notify list\` lists them.`);
  try {
    const { ok, error } = await channels.test(found.id);
    if (!ok) throw new CommandError(`${found.name}: ${error ?? 'it was not delivered.'}`);
  } catch (error) {
    if (error instanceof GatewayError) throw new CommandError(error.message);
    throw error;
  }
  io.stdout.write(`${found.name} took the test.\n`);
  return 0;
}

function openChannels(
  config: Config,
  database: Database,
): { readonly channels: Channels; readonly close: () => Promise<void> } {
  const vault = openVaultArea({ config, database, clock });
  const { close, ...outbound } = openSenders(config, vault.fill, createRoleAddresses(database));
  const secrets = createSecrets(config);
  const channels = createChannels({
    channels: createChannelStore(database),
    outbox: createOutbox(database),
    jobs: { add: () => Promise.resolve('full') },
    ...outbound,
    box: () => secrets.box(),
    clock,
    random: () => 0,
    publicUrl: config.server.publicUrl,
    hasUsers: config.organization.enabled,
    onChange: () => Promise.resolve(),
    onSent: () => undefined,
    onUnreadable: () => undefined,
  });
  return {
    channels,
    async close() {
      await close();
      await vault.close();
    },
  };
}

function formatLine({ id, kind, name, enabled, state, lastError, recipients, url }: ChannelRecord): string {
  const target = url ?? (recipients ?? []).join(', ');
  const shown = enabled ? state : state === 'disabled' ? state : 'off';
  const error = lastError === null || state === 'ok' ? '' : `  ${lastError}`;
  // A name may hold anything; a terminal must not obey it.
  return `${id}  ${kind}  ${name}  ${target}  ${shown}${error}`.replace(/\p{Cc}/gu, ' ');
}

function formatJson({ id, kind, name, enabled, state, events, lastError, recipients, url }: ChannelRecord): string {
  return JSON.stringify({ id, kind, name, enabled, state, events, url, recipients, last_error: lastError });
}
