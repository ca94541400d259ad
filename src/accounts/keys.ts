import type { DefaultPlugin } from '../canonical/default-plugins.ts';
import type { DefaultPreferences } from '../canonical/default-preferences.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import type { KeyChanges, KeyFilter, KeyKind, KeyRow, KeyStore, LimitReset } from '../store/keys.ts';
import type { Spend, SubjectSpend } from '../store/spend.ts';
import { assert } from '../lib/assert.ts';
import { hashKey, isKeyHash, labelKey, newKey } from './key-format.ts';
import { DEFAULT_WORKSPACE_ID, type Principal } from './principal.ts';
import { unknownWorkspace } from './workspaces.ts';
import { openWindows } from './windows.ts';

/** The most that a key's limit may be: nano-USD count exactly in a double up to a little above. */
export const KEY_LIMIT_USD_MAX = 9_000_000;

/** A key with what it has spent. Money is nano-USD. */
export interface KeyRecord extends KeyRow, SubjectSpend {
  /** What is left in the running window of the limit; below zero when it was overspent. Null: no limit. */
  readonly limitRemainingNanoUsd: number | null;
}

export interface NewKey {
  readonly name: string;
  /** Default: `normal`. */
  readonly kind?: KeyKind;
  readonly limitNanoUsd?: number | null;
  readonly limitReset?: LimitReset | null;
  readonly includeByokInLimit?: boolean;
  readonly expiresAtMs?: number | null;
  readonly creatorUserId?: string | null;
  /** Default: the default workspace. */
  readonly workspaceId?: string;
  readonly defaultPreferences?: DefaultPreferences | null;
  readonly defaultPlugins?: readonly DefaultPlugin[] | null;
}

/** The two keys of a first start, in full, to be shown once. */
export interface FirstKeys {
  readonly managementKey: string;
  readonly apiKey: string;
}

/** Keys that the environment supplies, in full. */
export interface StaticKeys {
  readonly management?: string;
  readonly normal?: string;
}

export interface Keys {
  /**
   * `key` is the full key: this is the only time that it can be seen.
   * @throws GatewayError 400 when the workspace is not there
   */
  create(wish: NewKey): Promise<{ readonly record: KeyRecord; readonly key: string }>;
  /** Newest first, at most 100. */
  list(filter: KeyFilter): Promise<readonly KeyRecord[]>;
  /** @throws GatewayError 404 when there is no such key (of this kind) */
  get(hash: string, kind?: KeyKind): Promise<KeyRecord>;
  /** @throws GatewayError 404 when there is no such key (of this kind) */
  update(hash: string, changes: Omit<KeyChanges, 'updatedAtMs'>, kind?: KeyKind): Promise<KeyRecord>;
  /** @throws GatewayError 404 when there is no such key (of this kind) */
  delete(hash: string, kind?: KeyKind): Promise<void>;
  /** The key that calls, one that the environment supplies included. */
  describe(principal: Principal): Promise<KeyRecord>;
  /** Makes the first two keys of an empty store; `undefined` when there are keys, or were, or the environment has one. */
  bootstrap(staticKeys?: StaticKeys): Promise<FirstKeys | undefined>;
}

export interface KeysParts {
  readonly store: KeyStore;
  readonly clock: Clock;
}

export function createKeys(parts: KeysParts): Keys {
  const { store, clock } = parts;
  const get: Keys['get'] = async (hash, kind) => {
    const row = isKeyHash(hash) ? await store.find(hash) : undefined;
    if (row === undefined || (kind !== undefined && row.kind !== kind)) throw unknownKey();
    return withSpend(parts, row);
  };
  return {
    get,
    async create(wish) {
      const key = newKey(wish.kind ?? 'normal');
      const row = draftKey(key, wish, clock.nowMs());
      // Management keys act on the whole account, whatever becomes of a workspace.
      if (row.kind === 'management') await store.insert(row);
      else if (!(await store.insertInWorkspace(row))) throw unknownWorkspace(wish.workspaceId);
      return { record: await withSpend(parts, row), key };
    },
    async list(filter) {
      return withSpends(parts, await store.list(filter));
    },
    async update(hash, changes, kind) {
      if (Object.values(changes).every((change) => change === undefined)) return get(hash, kind);
      const row = isKeyHash(hash)
        ? await store.update(hash, { ...changes, updatedAtMs: clock.nowMs() }, kind)
        : undefined;
      if (row === undefined) throw unknownKey();
      return withSpend(parts, row);
    },
    async delete(hash, kind) {
      if (!isKeyHash(hash) || !(await store.remove(hash, clock.nowMs(), kind))) throw unknownKey();
    },
    async describe(principal) {
      const row = (await store.find(principal.keyHash)) ?? rowOfStaticKey(principal);
      return withSpend(parts, row);
    },
    async bootstrap(staticKeys = {}) {
      if (staticKeys.management !== undefined || staticKeys.normal !== undefined) return undefined;
      const [managementKey, apiKey] = [newKey('management'), newKey('normal')];
      const nowMs = clock.nowMs();
      const made = await store.insertFirst([
        draftKey(managementKey, { name: 'First management key', kind: 'management' }, nowMs),
        draftKey(apiKey, { name: 'First key' }, nowMs),
      ]);
      return made ? { managementKey, apiKey } : undefined;
    },
  };
}

function draftKey(key: string, wish: NewKey, nowMs: number): KeyRow {
  return {
    hash: hashKey(key),
    label: labelKey(key),
    name: wish.name,
    kind: wish.kind ?? 'normal',
    disabled: false,
    createdAtMs: nowMs,
    updatedAtMs: null,
    expiresAtMs: wish.expiresAtMs ?? null,
    limitNanoUsd: wish.limitNanoUsd ?? null,
    limitReset: wish.limitReset ?? null,
    includeByokInLimit: wish.includeByokInLimit ?? false,
    creatorUserId: wish.creatorUserId ?? null,
    workspaceId: wish.workspaceId ?? DEFAULT_WORKSPACE_ID,
    defaultPreferences: wish.defaultPreferences ?? null,
    defaultPlugins: wish.defaultPlugins ?? null,
  };
}

/** A key of the environment has no row, no limit and no end. */
function rowOfStaticKey(principal: Principal): KeyRow {
  const { keyHash, label, name, kind } = principal;
  return {
    hash: keyHash,
    label,
    name,
    kind,
    disabled: false,
    createdAtMs: 0,
    updatedAtMs: null,
    expiresAtMs: null,
    limitNanoUsd: null,
    limitReset: null,
    includeByokInLimit: false,
    creatorUserId: null,
    workspaceId: DEFAULT_WORKSPACE_ID,
    defaultPreferences: null,
    defaultPlugins: null,
  };
}

async function withSpend(parts: KeysParts, row: KeyRow): Promise<KeyRecord> {
  const [record] = await withSpends(parts, [row]);
  assert(record !== undefined, 'one key in, one record out');
  return record;
}

async function withSpends(parts: KeysParts, rows: readonly KeyRow[]): Promise<readonly KeyRecord[]> {
  const hashes = rows.map(({ hash }) => hash);
  const sums = await parts.store.sumSpend(hashes, openWindows(parts.clock.nowMs()));
  return rows.map((row) => {
    const spend = sums.get(row.hash);
    assert(spend !== undefined, 'every key has a sum');
    return { ...row, ...spend, limitRemainingNanoUsd: remaining(row, spend) };
  });
}

function remaining(row: KeyRow, spend: SubjectSpend): number | null {
  if (row.limitNanoUsd === null) return null;
  const spent = inWindow(spend.own, row.limitReset);
  return row.limitNanoUsd - spent - (row.includeByokInLimit ? inWindow(spend.byok, row.limitReset) : 0);
}

const WINDOW_OF = { daily: 'day', weekly: 'week', monthly: 'month' } as const satisfies Record<LimitReset, keyof Spend>;

function inWindow(spend: Spend, reset: LimitReset | null): number {
  return reset === null ? spend.total : spend[WINDOW_OF[reset]];
}

function unknownKey(): GatewayError {
  return new GatewayError('not_found', 'There is no such API key.');
}
