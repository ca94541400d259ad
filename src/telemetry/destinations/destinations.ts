import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import { isJsonObject, parseJson, type JsonObject } from '../../lib/json.ts';
import { SecretBoxError, type SecretBox } from '../../lib/secret-box.ts';
import { isUuid } from '../../lib/ids.ts';
import {
  destinationResource,
  type DestinationPatch,
  type DestinationRow,
  type NewDestinationValues,
} from '../../resources/destinations.ts';
import type { Admit, DestinationStore } from '../../store/accounts/destinations.ts';
import type { Cursors } from '../../store/exports/cursors.ts';
import type { ExportRows } from '../../store/exports/export-rows.ts';
import type { Page, PageWindow } from '../../store/engine/page.ts';
import type { DestinationType, OpenDestination, OutboundCall } from './contract.ts';
import { parseFilterRules, type FilterRules } from '../../resources/filter-rules.ts';
import { callOrRefuse, redactOf, openChecked, type ConnectionDeps } from './connection-test.ts';
import { readHealth, type DeliveryHealth } from './delivery/health.ts';
import { faultOfPatterns } from './filters/filter-rules.ts';
import { maskConfig, mergeConfig } from './mask-config.ts';
import { requireSecretsForNewOrigin } from './require-secrets.ts';
import { DESTINATION_TYPES } from './registry.ts';

/** A destination as its owner sees it: what is secret of its configuration is masked. */
export type DestinationRecord = Omit<DestinationRow, 'sealedConfig' | 'secretId'> & {
  readonly config: JsonObject;
  readonly health: DeliveryHealth;
};

export type DestinationInput = DestinationPatch & {
  readonly config?: JsonObject;
  /** Whether it is saved without being called first. */
  readonly skipsTest?: boolean | undefined;
};

export type NewDestination = NewDestinationValues & {
  readonly config: JsonObject;
  readonly workspaceId: string;
  readonly skipsTest?: boolean | undefined;
};

/** A destination with its configuration decrypted. */
export interface LiveDestination {
  readonly row: DestinationRow;
  readonly type: DestinationType;
  /** Whether bodies may be compressed. */
  readonly isCompressed: boolean;
  /** Makes a text of the address safe to show. */
  readonly redact: (text: string, call: OutboundCall) => string;
  readonly filterRules: FilterRules | null;
  readonly open: OpenDestination;
}

/** Where records of generations are sent. */
export interface Destinations {
  /** @throws GatewayError 400, and 409 when the workspace has one of this name */
  create(input: NewDestination): Promise<DestinationRecord>;
  list(window: PageWindow & { readonly workspaceId?: string }): Promise<Page<DestinationRecord>>;
  /** @throws GatewayError 404 */
  get(id: string): Promise<DestinationRecord>;
  /**
   * What is left out stays as it is, masked values too; an address of another origin takes the secrets again.
   * @throws GatewayError 400, 404, 409
   */
  update(id: string, input: DestinationInput): Promise<DestinationRecord>;
  /** @throws GatewayError 404 */
  delete(id: string): Promise<void>;
  /** Calls it as saving does. @throws GatewayError 400 when it does not take the call, 404 */
  test(id: string): Promise<void>;
  /** Turns it off: nothing reached it for a long time. */
  suspend(id: string): Promise<void>;
  /** All of them. */
  all(): Promise<readonly DestinationRow[]>;
  /** The enabled ones. One whose configuration cannot be read is reported and left out. */
  live(): Promise<readonly LiveDestination[]>;
}

export interface DestinationsDeps extends ConnectionDeps {
  readonly store: DestinationStore;
  readonly cursors: Pick<Cursors, 'open' | 'find' | 'reset' | 'remove'>;
  readonly rows: Pick<ExportRows, 'end' | 'countWaiting'>;
  readonly keys: { find(hash: string): Promise<object | undefined> };
  readonly box: () => Promise<SecretBox>;
  /** Something was made, changed or deleted; settles when that counts. Never rejects. */
  readonly onChange: () => Promise<void>;
  readonly onUnreadable: (id: string, error: unknown) => void;
}

/** @spec destination-2 */
const OF_TYPE_MAX = 5;
/** Of the account: five of each type in a hundred workspaces are more than any account needs. */
const DESTINATIONS_MAX = 1_000;

export function createDestinations(deps: DestinationsDeps): Destinations {
  const { store, clock, onChange } = deps;
  const find = async (id: string): Promise<DestinationRow> => {
    const row = isUuid(id) ? await store.find(id) : undefined;
    if (row === undefined) throw noSuchDestination();
    return row;
  };
  return {
    create: (input) => create(deps, input),
    async list(window) {
      const box = await deps.box();
      const { rows, totalCount } = await store.list(window);
      const shown = rows.map((row) => recordOf(deps, row, openOrEmpty(deps, box, row)));
      return { rows: await Promise.all(shown), totalCount };
    },
    async get(id) {
      const row = await find(id);
      return recordOf(deps, row, openOrEmpty(deps, await deps.box(), row));
    },
    update: (id, input) => update(deps, find, id, input),
    async delete(id) {
      if (!isUuid(id) || !(await store.remove(id))) throw noSuchDestination();
      await deps.cursors.remove(id);
      await onChange();
    },
    async test(id) {
      const row = await find(id);
      const config = openOrEmpty(deps, await deps.box(), row);
      await callOrRefuse(deps, typeOf(row.type), config, row.workspaceId);
    },
    async suspend(id) {
      const row = await find(id);
      const suspended = { ...row, enabled: false, updatedAtMs: Math.max(clock.nowMs(), row.updatedAtMs + 1) };
      await store.update(suspended, row, () => undefined);
      await onChange();
    },
    all: () => listAll(store),
    async live() {
      const enabled = (await listAll(store)).filter((row) => row.enabled);
      if (enabled.length === 0) return [];
      const box = await deps.box();
      const live = enabled.map(async (row) => {
        try {
          const config = await deps.fill(typeOf(row.type), openConfig(box, row), row.workspaceId);
          return [liveOf(deps, row, config)];
        } catch (error) {
          deps.onUnreadable(row.id, error);
          return [];
        }
      });
      return (await Promise.all(live)).flat();
    },
  };
}

async function create(
  deps: DestinationsDeps,
  { type: name, workspaceId, config, skipsTest, ...settings }: NewDestination,
): Promise<DestinationRecord> {
  const { store, clock, onChange } = deps;
  const type = typeOf(name);
  await checkKeys(deps, settings.apiKeyHashes);
  await checkPatterns(settings.filterRules);
  const admit: Admit = (all) => checkRoom(all, { workspaceId, type: name, name: settings.name });
  admit(await listAll(store));
  if (skipsTest === true) openChecked(deps, type, config);
  else await callOrRefuse(deps, type, config, workspaceId);
  const id = randomUUID();
  const nowMs = clock.nowMs();
  const row = destinationResource.newRow({
    ...settings,
    id,
    workspaceId,
    type: name,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...(await seal(deps, id, config)),
  });
  // Before it can be wanted: what ends from then on is sent.
  await deps.cursors.open(id, await deps.rows.end());
  await store.insert(row, admit);
  await onChange();
  return recordOf(deps, row, config);
}

async function update(
  deps: DestinationsDeps,
  find: (id: string) => Promise<DestinationRow>,
  id: string,
  { config: requestJson, skipsTest, ...settings }: DestinationInput,
): Promise<DestinationRecord> {
  const before = await find(id);
  const type = typeOf(before.type);
  await checkKeys(deps, settings.apiKeyHashes);
  await checkPatterns(settings.filterRules);
  const name = settings.name ?? before.name;
  const admit: Admit = (all) => (name === before.name ? undefined : checkRoom(all, { ...before, name }, before.id));
  admit(await listAll(deps.store));
  const known = openOrEmpty(deps, await deps.box(), before);
  const config = requestJson === undefined ? known : mergeConfig(type, known, requestJson);
  if (requestJson !== undefined) {
    const open = openChecked(deps, type, config);
    requireSecretsForNewOrigin({ type, known, sent: requestJson, after: open, service: deps.service });
  }
  const isTurnedOn = settings.enabled === true && !before.enabled;
  if ((requestJson !== undefined || isTurnedOn) && skipsTest !== true)
    await callOrRefuse(deps, type, config, before.workspaceId);
  const row: DestinationRow = {
    ...before,
    ...settings,
    ...(requestJson !== undefined && (await seal(deps, id, config))),
    // Never the same twice, because it identifies the version.
    updatedAtMs: Math.max(deps.clock.nowMs(), before.updatedAtMs + 1),
  };
  if (!(await deps.store.update(row, before, admit)))
    throw new GatewayError('invalid_request', 'Another request changed the destination meanwhile.', { status: 409 });
  // What was wrong may be mended: it is called at once.
  if (requestJson !== undefined || isTurnedOn) await deps.cursors.reset(id);
  await deps.onChange();
  return recordOf(deps, row, config);
}

function noSuchDestination(): GatewayError {
  return new GatewayError('not_found', 'There is no such destination.');
}

/** @throws GatewayError 400 */
function typeOf(name: string): DestinationType {
  const type = DESTINATION_TYPES.find((known) => known.type === name);
  if (type !== undefined) return type;
  const names = DESTINATION_TYPES.map((known) => known.type).join(', ');
  throw invalid('type', `must be one of ${names}`);
}

function liveOf(deps: DestinationsDeps, row: DestinationRow, config: JsonObject): LiveDestination {
  const type = typeOf(row.type);
  return {
    row,
    type,
    isCompressed: config['compression'] !== false && type.isUncompressed !== true,
    redact: redactOf(deps, type, config),
    filterRules: parseFilterRules(row.filterRules),
    open: type.open(config, deps.service),
  };
}

async function checkKeys({ keys }: DestinationsDeps, hashes: readonly string[] | null | undefined): Promise<void> {
  for (const [index, hash] of (hashes ?? []).entries())
    if ((await keys.find(hash)) === undefined)
      throw invalid(`api_key_hashes[${index}]`, 'is not a key of this account');
}

/** @throws GatewayError 400 @spec destination-4 */
async function checkPatterns(rules: string | null | undefined): Promise<void> {
  const parsed = parseFilterRules(rules ?? null);
  const [path, fault] = (parsed && (await faultOfPatterns(parsed))) ?? [];
  if (path !== undefined) throw invalid(`filter_rules.${path}`, `${fault} (invalid_regex_pattern)`);
}

async function listAll(store: DestinationStore): Promise<readonly DestinationRow[]> {
  return (await store.list({ offset: 0, limit: DESTINATIONS_MAX })).rows;
}

/** @throws GatewayError 400, 409 */
function checkRoom(
  rows: readonly DestinationRow[],
  { workspaceId, type, name }: Pick<DestinationRow, 'workspaceId' | 'type' | 'name'>,
  ownId?: string,
): void {
  const here = rows.filter((row) => row.workspaceId === workspaceId && row.id !== ownId);
  if (here.some((row) => row.name === name))
    throw new GatewayError('invalid_request', `name: the workspace has a destination "${name}" already`, {
      status: 409,
    });
  if (ownId !== undefined) return;
  if (here.filter((row) => row.type === type).length >= OF_TYPE_MAX)
    throw invalid('type', `the workspace has ${OF_TYPE_MAX} destinations of this type already`);
  if (rows.length >= DESTINATIONS_MAX)
    throw invalid('type', `there are ${DESTINATIONS_MAX} destinations already, the most that an account may have`);
}

async function seal(
  { box }: DestinationsDeps,
  id: string,
  config: JsonObject,
): Promise<Pick<DestinationRow, 'sealedConfig' | 'secretId'>> {
  const secrets = await box();
  return { sealedConfig: secrets.seal(JSON.stringify(config), destinationPurpose(id)), secretId: secrets.currentId };
}

function openConfig(box: SecretBox, { id, sealedConfig }: DestinationRow): JsonObject {
  const config = parseJson(box.open(sealedConfig, destinationPurpose(id)));
  return isJsonObject(config) ? config : {};
}

/** One whose secret is gone can still be seen, given another configuration, and deleted. */
function openOrEmpty({ onUnreadable }: DestinationsDeps, box: SecretBox, row: DestinationRow): JsonObject {
  try {
    return openConfig(box, row);
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    onUnreadable(row.id, error);
    return {};
  }
}

/** An encrypted configuration can be decrypted only for its own destination. */
export function destinationPurpose(id: string): string {
  return `destination:${id}`;
}

async function recordOf(
  { cursors, rows }: DestinationsDeps,
  { sealedConfig: _sealed, secretId: _secret, ...row }: DestinationRow,
  config: JsonObject,
): Promise<DestinationRecord> {
  const cursor = (await cursors.find([row.id])).get(row.id);
  return { ...row, config: maskConfig(typeOf(row.type), config), health: await readHealth(row, cursor, rows) };
}
