import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../lib/json.ts';
import { maskText } from '../../lib/mask-text.ts';
import { SecretBoxError, type SecretBox } from '../../lib/secret-box.ts';
import { isUuid } from '../../lib/uuid.ts';
import type { Admit, DestinationRow, DestinationStore } from '../../store/destinations.ts';
import type { Page, PageWindow } from '../../store/page.ts';
import type { DestinationType, OpenDestination } from './contract.ts';
import { faultOfPatterns, filterRulesSchema, type FilterRules } from './filter-rules.ts';
import type { Poster } from './post.ts';
import { DESTINATION_TYPES, UNBUILT_TYPES } from './registry.ts';

/** A destination as its owner sees it: what is secret of its configuration is masked. */
export interface DestinationRecord extends Omit<DestinationRow, 'sealedConfig' | 'secretId' | 'filterRules'> {
  readonly config: JsonObject;
  readonly filterRules: FilterRules | null;
}

type Settings = Pick<
  DestinationRow,
  | 'name'
  | 'enabled'
  | 'privacyMode'
  | 'samplingPpm'
  | 'sendsCost'
  | 'sendsIdentity'
  | 'sendsRequestContext'
  | 'apiKeyHashes'
> & { readonly filterRules: FilterRules | null };

export interface DestinationWish extends Partial<Settings> {
  readonly config?: JsonObject;
  /** Whether it is saved without being called first. */
  readonly skipsTest?: boolean;
}

export interface NewDestination extends DestinationWish {
  readonly type: string;
  readonly name: string;
  readonly config: JsonObject;
  readonly workspaceId: string;
}

/** A destination with its configuration opened, for whoever sends to it. */
export interface LiveDestination {
  readonly row: DestinationRow;
  readonly filterRules: FilterRules | null;
  readonly open: OpenDestination;
}

/** Where records of generations are sent. */
export interface Destinations {
  /** @throws GatewayError 400, and 409 when the workspace has one of this name */
  create(wish: NewDestination): Promise<DestinationRecord>;
  list(window: PageWindow & { readonly workspaceId?: string }): Promise<Page<DestinationRecord>>;
  /** @throws GatewayError 404 */
  get(id: string): Promise<DestinationRecord>;
  /** What is left out stays as it is, masked values too. @throws GatewayError 400, 404, 409 */
  update(id: string, wish: DestinationWish): Promise<DestinationRecord>;
  /** @throws GatewayError 404 */
  delete(id: string): Promise<void>;
  /** Calls it as saving does. @throws GatewayError 400 when it does not take the call, 404 */
  test(id: string): Promise<void>;
  /** Those that are turned on. One whose configuration cannot be read is told of and left out. */
  live(): Promise<readonly LiveDestination[]>;
}

export interface DestinationsParts {
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

/** @source areas.md 11 "At most 5 per type" */
const OF_TYPE_MAX = 5;
/** Of the account: five of each type in a hundred workspaces are more than anybody has. */
const DESTINATIONS_MAX = 1_000;
const MILLION = 1_000_000;
const BAD_REQUEST = 400;

const DEFAULTS: Omit<Settings, 'name'> = {
  enabled: true,
  privacyMode: false,
  samplingPpm: MILLION,
  sendsCost: false,
  sendsIdentity: false,
  sendsRequestContext: false,
  apiKeyHashes: null,
  filterRules: null,
};

export function createDestinations(parts: DestinationsParts): Destinations {
  const { store, clock, onChange } = parts;
  const find = async (id: string): Promise<DestinationRow> => {
    const row = isUuid(id) ? await store.find(id) : undefined;
    if (row === undefined) throw noSuchDestination();
    return row;
  };
  return {
    async create({ type: name, workspaceId, config, skipsTest, ...settings }) {
      const type = typeOf(name);
      await checkKeys(parts, settings.apiKeyHashes);
      await checkPatterns(settings.filterRules);
      const admit: Admit = (all) => checkRoom(all, { workspaceId, type: name, name: settings.name });
      admit(await listAll(store));
      const open = openChecked(parts, type, config);
      if (skipsTest !== true) await callOrRefuse(parts, open);
      const id = randomUUID();
      const nowMs = clock.nowMs();
      const { filterRules, ...plain } = { ...DEFAULTS, ...settings };
      const row: DestinationRow = {
        id,
        workspaceId,
        type: name,
        ...plain,
        filterRules: filterRules === null ? null : JSON.stringify(filterRules),
        ...(await seal(parts, id, config)),
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      await store.insert(row, admit);
      await onChange();
      return recordOf(row, config);
    },
    async list(window) {
      const box = await parts.box();
      const { rows, totalCount } = await store.list(window);
      return { rows: rows.map((row) => recordOf(row, openOrEmpty(parts, box, row))), totalCount };
    },
    async get(id) {
      const row = await find(id);
      return recordOf(row, openOrEmpty(parts, await parts.box(), row));
    },
    update: (id, wish) => update(parts, find, id, wish),
    async delete(id) {
      if (!isUuid(id) || !(await store.remove(id))) throw noSuchDestination();
      await onChange();
    },
    async test(id) {
      const row = await find(id);
      const config = openOrEmpty(parts, await parts.box(), row);
      await callOrRefuse(parts, openChecked(parts, typeOf(row.type), config));
    },
    async live() {
      const enabled = (await listAll(store)).filter((row) => row.enabled);
      if (enabled.length === 0) return [];
      const box = await parts.box();
      return enabled.flatMap((row) => {
        try {
          const open = typeOf(row.type).open(openConfig(box, row));
          return [{ row, filterRules: readRules(row.filterRules), open }];
        } catch (error) {
          parts.onUnreadable(row.id, error);
          return [];
        }
      });
    },
  };
}

async function update(
  parts: DestinationsParts,
  find: (id: string) => Promise<DestinationRow>,
  id: string,
  { config: asked, skipsTest, ...settings }: DestinationWish,
): Promise<DestinationRecord> {
  const before = await find(id);
  const type = typeOf(before.type);
  await checkKeys(parts, settings.apiKeyHashes);
  await checkPatterns(settings.filterRules);
  const name = settings.name ?? before.name;
  const admit: Admit = (all) => (name === before.name ? undefined : checkRoom(all, { ...before, name }, before.id));
  admit(await listAll(parts.store));
  const known = openOrEmpty(parts, await parts.box(), before);
  const config = asked === undefined ? known : mergeConfig(type, known, asked);
  if (asked !== undefined) {
    const open = openChecked(parts, type, config);
    if (skipsTest !== true) await callOrRefuse(parts, open);
  }
  const { filterRules, ...plain } = settings;
  const row: DestinationRow = {
    ...before,
    ...plain,
    ...(filterRules !== undefined && { filterRules: filterRules === null ? null : JSON.stringify(filterRules) }),
    ...(asked !== undefined && (await seal(parts, id, config))),
    // Never the same twice: it tells versions apart.
    updatedAtMs: Math.max(parts.clock.nowMs(), before.updatedAtMs + 1),
  };
  if (!(await parts.store.update(row, before, admit)))
    throw new GatewayError('invalid_request', 'Somebody else changed the destination meanwhile.', { status: 409 });
  await parts.onChange();
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
  if (UNBUILT_TYPES.includes(name)) throw invalid('type', `"${name}" is not built yet; there are ${names}`);
  throw invalid('type', `must be one of ${names}`);
}

/** @throws GatewayError 400 with the path of what is wrong */
function openChecked(
  { poster, checkConfig }: DestinationsParts,
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
async function callOrRefuse({ poster, clock }: DestinationsParts, open: OpenDestination): Promise<void> {
  const outcome = await poster.post(open.drawTest(clock.nowMs()));
  const { status } = outcome;
  if (status === undefined) throw invalid('config', `the test call failed: ${outcome.reason}`);
  if ((status < 200 || status >= 300) && status !== BAD_REQUEST)
    throw invalid('config', `the test call was answered with status ${status}`);
}

async function checkKeys({ keys }: DestinationsParts, hashes: readonly string[] | null | undefined): Promise<void> {
  for (const [index, hash] of (hashes ?? []).entries())
    if ((await keys.find(hash)) === undefined)
      throw invalid(`api_key_hashes[${index}]`, 'is not a key of this account');
}

/** @throws GatewayError 400 @source areas.md 0.3 "unsafe regex" */
async function checkPatterns(rules: FilterRules | null | undefined): Promise<void> {
  const [path, fault] = (rules && (await faultOfPatterns(rules))) ?? [];
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
  { box }: DestinationsParts,
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
function openOrEmpty({ onUnreadable }: DestinationsParts, box: SecretBox, row: DestinationRow): JsonObject {
  try {
    return openConfig(box, row);
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    onUnreadable(row.id, error);
    return {};
  }
}

/** A sealed configuration opens for its own destination only. */
export function destinationPurpose(id: string): string {
  return `destination:${id}`;
}

function recordOf(
  { sealedConfig: _sealed, secretId: _secret, ...row }: DestinationRow,
  config: JsonObject,
): DestinationRecord {
  return { ...row, filterRules: readRules(row.filterRules), config: maskConfig(typeOf(row.type), config) };
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

/** Whoever sends back what was shown changes nothing: a mask stands for what it hides. */
function mergeConfig({ secrets }: DestinationType, known: JsonObject, asked: JsonObject): JsonObject {
  const unmask = (member: string, value: Json | undefined): Json | undefined => {
    if (!secrets.includes(member)) return value;
    const before = known[member];
    if (isJsonObject(value) && isJsonObject(before))
      return Object.fromEntries(
        Object.entries(value).map(([name, secret]) => [name, secret === mask(before[name]) ? before[name] : secret]),
      );
    return before !== undefined && value === mask(before) ? before : value;
  };
  const changed = Object.entries(asked).map(([member, value]) => [member, unmask(member, value)] as const);
  return { ...known, ...Object.fromEntries(changed) };
}

function readRules(text: string | null): FilterRules | null {
  return text === null ? null : filterRulesSchema.parse(JSON.parse(text));
}
