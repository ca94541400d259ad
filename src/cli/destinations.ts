import { destinationAddresses } from '../app/destinations/destination-addresses.ts';
import { serviceOf } from '../app/destinations/service.ts';
import { createSecrets } from '../accounts/byok/secrets.ts';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import type { Config } from '../config/config.ts';
import { systemClock as clock } from '../lib/clock.ts';
import { createDestinationStore } from '../store/accounts/destinations.ts';
import type { Database } from '../store/engine/database.ts';
import { createCursors } from '../store/exports/cursors.ts';
import { createExportRows } from '../store/exports/export-rows.ts';
import {
  createDestinations,
  type DestinationRecord,
  type Destinations,
} from '../telemetry/destinations/destinations.ts';
import { createPoster } from '../telemetry/destinations/post.ts';
import { fillConfigs } from '../app/vault/fill-configs.ts';
import { openVaultArea } from '../app/vault/vault-area.ts';
import { CommandError, UsageError, type Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';
import { openConfiguredDatabase } from './open-database.ts';

const FLAGS = { ...CONFIG_FLAGS, json: { type: 'boolean' } } as const;
const LISTED_MAX = 1_000;

/** `model-gateway destinations list|test`: where records go, and whether they arrive. */
export async function runDestinations(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [verb, id, extra] = words;
  if (verb !== 'list' && verb !== 'test') throw new UsageError('destinations: say what to do: list or test ID');
  if ((verb === 'test') !== (id !== undefined))
    throw new UsageError(`destinations ${verb}: ${verb === 'test' ? 'name the id' : `${id}: unexpected argument`}`);
  if (extra !== undefined) throw new UsageError(`destinations ${verb}: ${extra}: unexpected argument`);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const database = await openConfiguredDatabase(config, { makes: false });
  const { destinations, close } = openDestinations(config, database);
  try {
    if (id !== undefined) return await test(destinations, id, io);
    const { rows } = await destinations.list({ offset: 0, limit: LISTED_MAX });
    for (const row of rows) io.stdout.write(`${values.json === true ? formatJson(row) : formatLine(row)}\n`);
    return 0;
  } finally {
    await close();
    await database.close();
  }
}

async function test(destinations: Destinations, id: string, io: Io): Promise<number> {
  try {
    await destinations.test(id);
  } catch (error) {
    if (error instanceof GatewayError) throw new CommandError(error.message);
    throw error;
  }
  io.stdout.write(`${id} took the test call.\n`);
  return 0;
}

function openDestinations(config: Config, database: Database) {
  const addresses = destinationAddresses(config);
  const poster = createPoster(addresses);
  const secrets = createSecrets(config);
  const service = serviceOf(config);
  const destinations = createDestinations({
    store: createDestinationStore({ database }),
    cursors: createCursors(database),
    rows: createExportRows(database),
    hidesAnswers: addresses.isAllowed !== undefined,
    keys: { find: () => Promise.resolve(undefined) },
    box: () => secrets.box(),
    poster,
    checkConfig(schema, value) {
      if (!schema.safeParse(value).success) throw invalid('config', 'is no configuration of this kind any more');
    },
    clock,
    fill: fillConfigs(openVaultArea({ config, database, clock }).values, service),
    service,
    onChange: () => Promise.resolve(),
    onUnreadable: () => undefined,
  });
  return { destinations, close: () => poster.close() };
}

function formatLine({ id, type, name, enabled, health }: DestinationRecord): string {
  const { state, pending, sent, failed, dropped, lastError } = health;
  const shown = enabled ? state : state === 'suspended' ? state : 'off';
  const error = lastError === null || state === 'ok' ? '' : `  ${lastError.message}`;
  const line = `${id}  ${type}  ${name}  ${shown}  pending ${pending}, sent ${sent}, failed ${failed}, dropped ${dropped}${error}`;
  // A name may hold anything; a terminal must not obey it.
  return line.replace(/\p{Cc}/gu, ' ');
}

function formatJson({ id, type, name, workspaceId, enabled, health }: DestinationRecord): string {
  return JSON.stringify({ id, type, name, workspace_id: workspaceId, enabled, health });
}
