import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import { isUuid } from '../lib/uuid.ts';
import type { ByokKeyChanges, ByokKeyFilter, ByokKeyRow, ByokKeyStore } from '../store/byok-keys.ts';
import type { KeyStore } from '../store/keys.ts';
import type { Page } from '../store/page.ts';
import { BYOK_KEYS_MAX, purposeOf } from './own-credentials.ts';
import type { Secrets } from './secrets.ts';

/** A credential as its owner sees it. What is secret of it is never shown. */
export type ByokKeyRecord = Omit<ByokKeyRow, 'sealed' | 'secretId' | 'updatedAtMs'>;

export interface ByokKeyWish {
  /** The credential itself. */
  readonly key?: string | undefined;
  readonly name?: string | null | undefined;
  readonly disabled?: boolean | undefined;
  readonly isFallback?: boolean | undefined;
  readonly alwaysUse?: boolean | undefined;
  readonly sortOrder?: number | undefined;
  readonly allowedModels?: readonly string[] | null | undefined;
  readonly allowedApiKeyHashes?: readonly string[] | null | undefined;
  readonly allowedUserIds?: readonly string[] | null | undefined;
}

export interface NewByokKey extends ByokKeyWish {
  readonly provider: string;
  readonly key: string;
  /** Null: every workspace. Absent: the default one. */
  readonly workspaceId?: string | null | undefined;
}

/** Credentials of providers that the account brings. */
export interface ByokKeys {
  /** @throws GatewayError 400 for an unknown provider, or a credential that cannot be one */
  create(wish: NewByokKey): Promise<ByokKeyRecord>;
  list(filter: ByokKeyFilter): Promise<Page<ByokKeyRecord>>;
  /** @throws GatewayError 404 */
  get(id: string): Promise<ByokKeyRecord>;
  /** What is left out stays as it is. A new credential takes the place of the old one. @throws GatewayError 400, 404 */
  update(id: string, wish: ByokKeyWish): Promise<ByokKeyRecord>;
  /** @throws GatewayError 404 */
  delete(id: string): Promise<void>;
}

export interface ByokKeysParts {
  readonly store: ByokKeyStore;
  readonly keys: Pick<KeyStore, 'find'>;
  readonly secrets: Pick<Secrets, 'box'>;
  readonly clock: Clock;
  /** The workspace that a call means which may leave it out. @throws GatewayError 400 when there is none */
  readonly workspaceOf: (named: string | undefined) => Promise<string>;
  /**
   * Whose a credential is, by the provider's own slug, and its masked label.
   * @throws GatewayError 400 for an unknown provider, or a credential that its adapter cannot use
   */
  readonly describe: (provider: string, key: string) => { readonly provider: string; readonly label: string };
  /** There is a credential for this provider: settles when it can be asked. */
  readonly onBrought: (provider: string) => Promise<void>;
  /** The provider's own slug, whichever of its names is used. */
  readonly slugOf: (provider: string) => string;
}

export function createByokKeys(parts: ByokKeysParts): ByokKeys {
  const { store, clock } = parts;
  const find = async (id: string): Promise<ByokKeyRow> => {
    const row = isUuid(id) ? await store.find(id) : undefined;
    if (row === undefined) throw unknownCredential();
    return row;
  };
  return {
    async create(wish) {
      const { key } = wish;
      const { provider, label } = parts.describe(wish.provider, key);
      await checkFilters(parts, wish);
      const workspaceId = wish.workspaceId === null ? null : await parts.workspaceOf(wish.workspaceId);
      if ((await store.count()) >= BYOK_KEYS_MAX)
        throw invalid('provider', `there are ${BYOK_KEYS_MAX} credentials already, the most that an account may have`);
      const id = randomUUID();
      const nowMs = clock.nowMs();
      const row: ByokKeyRow = {
        id,
        workspaceId,
        provider,
        name: wish.name ?? null,
        label,
        ...(await seal(parts, { id, provider }, key)),
        disabled: wish.disabled ?? false,
        isFallback: wish.isFallback ?? false,
        alwaysUse: wish.alwaysUse ?? false,
        sortOrder: wish.sortOrder ?? (await store.nextSortOrder(provider)),
        allowedModels: wish.allowedModels ?? null,
        allowedApiKeyHashes: wish.allowedApiKeyHashes ?? null,
        allowedUserIds: wish.allowedUserIds ?? null,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      await store.insert(row);
      await parts.onBrought(provider);
      return recordOf(row);
    },
    async list(filter) {
      const { provider } = filter;
      const { rows, totalCount } = await store.list({
        ...filter,
        ...(provider !== undefined && { provider: parts.slugOf(provider) }),
      });
      return { rows: rows.map(recordOf), totalCount };
    },
    async get(id) {
      return recordOf(await find(id));
    },
    async update(id, { key, ...wish }) {
      const before = await find(id);
      await checkFilters(parts, wish);
      const changes: ByokKeyChanges = {
        ...withoutAbsent(wish),
        ...(key !== undefined && {
          label: parts.describe(before.provider, key).label,
          ...(await seal(parts, before, key)),
        }),
        updatedAtMs: clock.nowMs(),
      };
      const row = await store.update(id, changes);
      if (row === undefined) throw unknownCredential();
      return recordOf(row);
    },
    async delete(id) {
      if (!isUuid(id) || !(await store.remove(id, clock.nowMs()))) throw unknownCredential();
    },
  };
}

async function seal(
  { secrets }: ByokKeysParts,
  row: Pick<ByokKeyRow, 'id' | 'provider'>,
  key: string,
): Promise<Pick<ByokKeyRow, 'sealed' | 'secretId'>> {
  const box = await secrets.box();
  return { sealed: box.seal(key, purposeOf(row)), secretId: box.currentId };
}

/** A filter that names nobody's key would close the credential without a word. @source areas.md 3 "Three filters" */
async function checkFilters({ keys }: ByokKeysParts, { allowedApiKeyHashes }: ByokKeyWish): Promise<void> {
  for (const [index, hash] of (allowedApiKeyHashes ?? []).entries()) {
    // At most 100, one after the other: administration is no reason to load the database.
    if ((await keys.find(hash)) === undefined)
      throw invalid(`allowed_api_key_hashes[${index}]`, 'is not a key of this account');
  }
}

function withoutAbsent(wish: Omit<ByokKeyWish, 'key'>): Omit<ByokKeyChanges, 'updatedAtMs'> {
  const { name, disabled, isFallback, alwaysUse, sortOrder } = wish;
  const { allowedModels, allowedApiKeyHashes, allowedUserIds } = wish;
  return {
    ...(name !== undefined && { name }),
    ...(disabled !== undefined && { disabled }),
    ...(isFallback !== undefined && { isFallback }),
    ...(alwaysUse !== undefined && { alwaysUse }),
    ...(sortOrder !== undefined && { sortOrder }),
    ...(allowedModels !== undefined && { allowedModels }),
    ...(allowedApiKeyHashes !== undefined && { allowedApiKeyHashes }),
    ...(allowedUserIds !== undefined && { allowedUserIds }),
  };
}

function recordOf({ sealed: _sealed, secretId: _secretId, updatedAtMs: _updatedAtMs, ...record }: ByokKeyRow) {
  return record;
}

function unknownCredential(): GatewayError {
  return new GatewayError('not_found', 'There is no such credential.');
}
