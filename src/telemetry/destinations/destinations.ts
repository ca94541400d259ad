import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../lib/json.ts';
import { maskText } from '../../lib/text/mask-text.ts';
import { SecretBoxError, type SecretBox } from '../../lib/secret-box.ts';
import { isUuid } from '../../lib/ids.ts';
import {
  destinationResource,
  type DestinationPatch,
  type DestinationRow,
  type NewDestinationValues,
} from '../../resources/destinations.ts';
import type { Admit, DestinationStore } from '../../store/accounts/destinations.ts';
import type { Page, PageWindow } from '../../store/engine/page.ts';
import type { DestinationType, OpenDestination } from './contract.ts';
import { parseFilterRules, type FilterRules } from '../../resources/filter-rules.ts';
import { faultOfPatterns } from './filter-rules.ts';
import type { Poster } from './post.ts';
import { requireSecretsForNewOrigin } from './require-secrets.ts';
import { DESTINATION_TYPES, UNSUPPORTED_TYPES } from './registry.ts';

/** A destination as its owner sees it: what is secret of its configuration is masked. */
export type DestinationRecord = Omit<DestinationRow, 'sealedConfig' | 'secretId'> & { readonly config: JsonObject };

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
  /** The enabled ones. One whose configuration cannot be read is reported and left out. */
  live(): Promise<readonly LiveDestination[]>;
}

export interface DestinationsDeps {
  readonly store: DestinationStore;
  readonly keys: { find(hash: string): Promise<object | undefined> };
  readonly box: () => Promise<SecretBox>;
  readonly poster: Pick<Poster, 'post' | 'faultOf'>;
  /** @throws GatewayError 400 with the path of what is wrong, below `config` */
  readonly checkConfig: (schema: DestinationType['schema'], config: JsonObject) => void;
  readonly clock: Clock;
  /** Something was made, changed or deleted; settles when that counts. Never rejects. */
  readonly onChange: () => Promise<void>;
  readonly onUnreadable: (id: string, error: unknown) => void;
}

/** @spec destination-2 */
const OF_TYPE_MAX = 5;
/** Of the account: five of each type in a hundred workspaces are more than any account needs. */
const DESTINATIONS_MAX = 1_000;
const BAD_REQUEST = 400;

export function createDestinations(deps: DestinationsDeps): Destinations {
  const { store, clock, onChange } = deps;
  const find = async (id: string): Promise<DestinationRow> => {
    const row = isUuid(id) ? await store.find(id) : undefined;
    if (row === undefined) throw noSuchDestination();
    return row;
  };
  return {
    async create({ type: name, workspaceId, config, skipsTest, ...settings }) {
      const type = typeOf(name);
      await checkKeys(deps, settings.apiKeyHashes);
      await checkPatterns(settings.filterRules);
      const admit: Admit = (all) => checkRoom(all, { workspaceId, type: name, name: settings.name });
      admit(await listAll(store));
      const open = openChecked(deps, type, config);
      if (skipsTest !== true) await callOrRefuse(deps, open);
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
      await store.insert(row, admit);
      await onChange();
      return recordOf(row, config);
    },
    async list(window) {
      const box = await deps.box();
      const { rows, totalCount } = await store.list(window);
      return { rows: rows.map((row) => recordOf(row, openOrEmpty(deps, box, row))), totalCount };
    },
    async get(id) {
      const row = await find(id);
      return recordOf(row, openOrEmpty(deps, await deps.box(), row));
    },
    update: (id, input) => update(deps, find, id, input),
    async delete(id) {
      if (!isUuid(id) || !(await store.remove(id))) throw noSuchDestination();
      await onChange();
    },
    async test(id) {
      const row = await find(id);
      const config = openOrEmpty(deps, await deps.box(), row);
      await callOrRefuse(deps, openChecked(deps, typeOf(row.type), config));
    },
    async live() {
      const enabled = (await listAll(store)).filter((row) => row.enabled);
      if (enabled.length === 0) return [];
      const box = await deps.box();
      return enabled.flatMap((row) => {
        try {
          const open = typeOf(row.type).open(openConfig(box, row));
          return [{ row, filterRules: parseFilterRules(row.filterRules), open }];
        } catch (error) {
          deps.onUnreadable(row.id, error);
          return [];
        }
      });
    },
  };
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
    requireSecretsForNewOrigin({ type, known, sent: requestJson, url: open.url });
    if (skipsTest !== true) await callOrRefuse(deps, open);
  }
  const row: DestinationRow = {
    ...before,
    ...settings,
    ...(requestJson !== undefined && (await seal(deps, id, config))),
    // Never the same twice, because it identifies the version.
    updatedAtMs: Math.max(deps.clock.nowMs(), before.updatedAtMs + 1),
  };
  if (!(await deps.store.update(row, before, admit)))
    throw new GatewayError('invalid_request', 'Another request changed the destination meanwhile.', { status: 409 });
  await deps.onChange();
  return recordOf(row, config);
}

function noSuchDestination(): GatewayError {
  return new GatewayError('not_found', 'There is no such destination.');
}

/** @throws GatewayError 400 */
function typeOf(name: string): DestinationType {
  const type = DESTINATION_TYPES.find((known) => known.type === name);
  if (type !== undefined) return type;
  const names = DESTINATION_TYPES.map((known) => known.type).join(', ');
  if (UNSUPPORTED_TYPES.includes(name)) throw invalid('type', `"${name}" is not built yet; there are ${names}`);
  throw invalid('type', `must be one of ${names}`);
}

/** @throws GatewayError 400 with the path of what is wrong */
function openChecked(
  { poster, checkConfig }: DestinationsDeps,
  type: DestinationType,
  config: JsonObject,
): OpenDestination {
  checkConfig(type.schema, config);
  const open = type.open(config);
  const fault = poster.faultOf(open.url);
  if (fault !== undefined) throw invalid('config', fault);
  return open;
}

/** @throws GatewayError 400 */
async function callOrRefuse({ poster, clock }: DestinationsDeps, open: OpenDestination): Promise<void> {
  const outcome = await poster.post(open.serializeTest(clock.nowMs()));
  const { status } = outcome;
  if (status === undefined) throw invalid('config', `the test call failed: ${outcome.reason}`);
  if ((status < 200 || status >= 300) && status !== BAD_REQUEST)
    throw invalid('config', `the test call was answered with status ${status}`);
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

function recordOf(
  { sealedConfig: _sealed, secretId: _secret, ...row }: DestinationRow,
  config: JsonObject,
): DestinationRecord {
  return { ...row, config: maskConfig(typeOf(row.type), config) };
}

function maskConfig({ secrets }: DestinationType, config: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(config).map(([member, value]) => [member, secrets.includes(member) ? mask(value) : value]),
  );
}

function mask(value: Json | undefined): Json {
  if (typeof value === 'string') return maskText(value);
  if (!isJsonObject(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([name, secret]) => [name, mask(secret)]));
}

/** Sending back a shown configuration changes nothing: a mask stands for the secret behind it. */
function mergeConfig({ secrets }: DestinationType, known: JsonObject, requestJson: JsonObject): JsonObject {
  const unmask = (member: string, value: Json | undefined): Json | undefined => {
    if (!secrets.includes(member)) return value;
    const before = known[member];
    if (isJsonObject(value) && isJsonObject(before))
      return Object.fromEntries(
        Object.entries(value).map(([name, secret]) => [name, secret === mask(before[name]) ? before[name] : secret]),
      );
    return before !== undefined && value === mask(before) ? before : value;
  };
  const changed = Object.entries(requestJson).map(([member, value]) => [member, unmask(member, value)] as const);
  return { ...known, ...Object.fromEntries(changed) };
}
