import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { keyResource, type KeyKind, type KeyPatch, type KeyRow, type LimitReset } from '../../resources/keys.ts';
import type { DraftOf } from '../../resources/resource.ts';
import { addSpend } from '../../store/accounts/issued-keys.ts';
import type { KeyFilter, KeyStore } from '../../store/accounts/keys.ts';
import type { Spend, SubjectSpend } from '../../store/usage/spend.ts';
import { assert } from '../../lib/assert.ts';
import { hashKey, isKeyHash, labelKey, newKey } from './key-format.ts';
import { DEFAULT_WORKSPACE_ID, type Principal } from '../principal.ts';
import { unknownWorkspace } from '../workspaces/workspaces.ts';
import { openWindows } from '../limits/windows.ts';

/** A key with its spending. Money is nano-USD. */
export interface KeyRecord extends KeyRow, SubjectSpend {
  /**
   * The rest of the limit in the current window, which also counts the keys that this one issued; below zero when it
   * was overspent. Null: no limit.
   */
  readonly limitRemainingNanoUsd: number | null;
}

type Draft = DraftOf<typeof keyResource>;
/** Default: a normal key of the default workspace, issued by no other key. */
export type NewKey = Omit<Draft, 'hash' | 'label' | 'createdAtMs' | 'workspaceId'> &
  Partial<Pick<Draft, 'workspaceId'>>;

/** The result of a change of a key and of the keys that it issued. */
export interface Cascaded {
  /** Hashes of the issued keys that changed. */
  readonly issued: readonly string[];
}

/** The two keys of a first start, in full, to be shown once. */
export interface FirstKeys {
  readonly managementKey: string;
  readonly apiKey: string;
}

/** Keys from the environment, in full. */
export interface StaticKeys {
  readonly management?: string;
  readonly normal?: string;
}

export interface Keys {
  /**
   * `key` is the full key: this is the only time that it is visible.
   * @throws GatewayError 400 when the workspace does not exist; 403 when the issuer was disabled or deleted meanwhile
   */
  create(draft: NewKey): Promise<{ readonly record: KeyRecord; readonly key: string }>;
  /** Lists the newest first, at most 100. */
  list(filter: KeyFilter): Promise<readonly KeyRecord[]>;
  /** @throws GatewayError 404 when there is no such key (of this kind) */
  get(hash: string, kind?: KeyKind): Promise<KeyRecord>;
  /** @throws GatewayError 404 when there is no such key (of this kind) */
  update(hash: string, changes: KeyPatch, kind?: KeyKind): Promise<KeyRecord>;
  /** @throws GatewayError 404 when there is no such key (of this kind) */
  delete(hash: string, kind?: KeyKind): Promise<void>;
  /**
   * Deletes the key with all keys that it issued, directly or not.
   * @throws GatewayError 404 when there is no such key (of this kind)
   */
  deleteWithIssued(hash: string, kind?: KeyKind): Promise<Cascaded>;
  /** Disables them in the same way. @throws GatewayError 404 when there is no such key (of this kind) */
  disableWithIssued(hash: string, kind?: KeyKind): Promise<Cascaded>;
  /** Describes the calling key, also one from the environment. */
  describe(principal: Principal): Promise<KeyRecord>;
  /**
   * Makes the first two keys of an empty store; `undefined` when there are keys, or were, or the environment has one.
   */
  bootstrap(staticKeys?: StaticKeys): Promise<FirstKeys | undefined>;
}

export interface KeysDeps {
  readonly store: KeyStore;
  readonly clock: Clock;
}

export function createKeys(deps: KeysDeps): Keys {
  const { store, clock } = deps;
  const get: Keys['get'] = async (hash, kind) => {
    const row = isKeyHash(hash) ? await store.find(hash) : undefined;
    if (row === undefined || (kind !== undefined && row.kind !== kind)) throw unknownKey();
    return withSpend(deps, row);
  };
  return {
    get,
    async create(draft) {
      const key = newKey(draft.kind ?? 'normal');
      const row = draftKey(key, draft, clock.nowMs());
      // Management keys act on the whole account, so the state of a workspace does not matter.
      if (row.kind === 'management') await store.insert(row);
      else await insertNormal(store, row, draft);
      return { record: await withSpend(deps, row), key };
    },
    async list(filter) {
      return withSpends(deps, await store.list(filter));
    },
    async update(hash, changes, kind) {
      if (Object.keys(changes).length === 0) return get(hash, kind);
      // A change by hand takes the place of what disabled it.
      const byHand = changes.disabled === undefined ? changes : { ...changes, disabledReason: null };
      const row = isKeyHash(hash)
        ? await store.update(hash, { ...byHand, updatedAtMs: clock.nowMs() }, kind)
        : undefined;
      if (row === undefined) throw unknownKey();
      return withSpend(deps, row);
    },
    async delete(hash, kind) {
      if (!isKeyHash(hash) || !(await store.remove(hash, clock.nowMs(), kind))) throw unknownKey();
    },
    async deleteWithIssued(hash, kind) {
      return cascade(store, hash, { deletedAtMs: clock.nowMs() }, kind);
    },
    async disableWithIssued(hash, kind) {
      return cascade(store, hash, { disabled: true, updatedAtMs: clock.nowMs() }, kind);
    },
    async describe(principal) {
      const row = (await store.find(principal.keyHash)) ?? rowOfStaticKey(principal);
      return withSpend(deps, row);
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

async function insertNormal(store: KeyStore, row: KeyRow, draft: NewKey): Promise<void> {
  const outcome = await store.insertInWorkspace(row);
  if (outcome === 'no workspace') throw unknownWorkspace(draft.workspaceId);
  if (outcome === 'no issuer')
    throw new GatewayError('permission_denied', 'The key that issues this one was disabled or deleted.');
  if (outcome === 'no owner')
    throw new GatewayError('permission_denied', 'The user that the key is for was disabled or deleted.');
  if (outcome === 'not new') throw new Error('A new key has the hash of another one.');
}

async function cascade(
  store: KeyStore,
  hash: string,
  change: Parameters<KeyStore['cascade']>[1],
  kind: KeyKind | undefined,
): Promise<Cascaded> {
  const issued = isKeyHash(hash) ? await store.cascade(hash, change, kind) : undefined;
  if (issued === undefined) throw unknownKey();
  return { issued };
}

function draftKey(key: string, draft: NewKey, nowMs: number): KeyRow {
  const workspaceId = draft.workspaceId ?? DEFAULT_WORKSPACE_ID;
  return keyResource.newRow({ ...draft, hash: hashKey(key), label: labelKey(key), createdAtMs: nowMs, workspaceId });
}

/** A key from the environment has no row, no limit and no expiry. */
function rowOfStaticKey({ keyHash: hash, label, name, kind }: Principal): KeyRow {
  return keyResource.newRow({ hash, label, name, kind, createdAtMs: 0, workspaceId: DEFAULT_WORKSPACE_ID });
}

async function withSpend(deps: KeysDeps, row: KeyRow): Promise<KeyRecord> {
  const [record] = await withSpends(deps, [row]);
  assert(record !== undefined, 'one key in, one record out');
  return record;
}

async function withSpends(deps: KeysDeps, rows: readonly KeyRow[]): Promise<readonly KeyRecord[]> {
  const hashes = rows.map(({ hash }) => hash);
  const windows = openWindows(deps.clock.nowMs());
  const limited = rows.filter(({ limitNanoUsd }) => limitNanoUsd !== null).map(({ hash }) => hash);
  const [sums, issued] = await Promise.all([
    deps.store.sumSpend(hashes, windows),
    deps.store.sumIssuedSpend(limited, windows),
  ]);
  return rows.map((row) => {
    const spend = sums.get(row.hash);
    assert(spend !== undefined, 'every key has a sum');
    return { ...row, ...spend, limitRemainingNanoUsd: remaining(row, addSpend(spend, issued.get(row.hash))) };
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
