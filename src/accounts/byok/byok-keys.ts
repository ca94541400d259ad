import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { isUuid } from '../../lib/ids.ts';
import {
  byokKeyResource,
  type ByokKeyPatch,
  type ByokKeyRow,
  type NewByokKeyValues,
} from '../../resources/byok-keys.ts';
import type { ByokKeyChanges, ByokKeyFilter, ByokKeyStore } from '../../store/accounts/byok-keys.ts';
import type { KeyStore } from '../../store/accounts/keys.ts';
import type { Page } from '../../store/engine/page.ts';
import { BYOK_KEYS_MAX, purposeOf } from './byok-credentials.ts';
import type { Secrets } from './secrets.ts';

/** A credential as its owner sees it. Its secret is never shown. */
export type ByokKeyRecord = Omit<ByokKeyRow, 'sealed' | 'secretId' | 'updatedAtMs'>;

/** Changes of a credential; `key` replaces the secret. */
export type ByokKeyInput = ByokKeyPatch & { readonly key?: string | undefined };
export type NewByokKey = NewByokKeyValues & { readonly key: string };

/** The account's own credentials of providers. */
export interface ByokKeys {
  /** @throws GatewayError 400 for an unknown provider, or a credential that cannot be one */
  create(newByokKey: NewByokKey): Promise<ByokKeyRecord>;
  list(filter: ByokKeyFilter): Promise<Page<ByokKeyRecord>>;
  /** @throws GatewayError 404 */
  get(id: string): Promise<ByokKeyRecord>;
  /**
   * Changes the given fields and leaves the others. A new secret replaces the old one.
   * @throws GatewayError 400, 404
   */
  update(id: string, input: ByokKeyInput): Promise<ByokKeyRecord>;
  /** @throws GatewayError 404 */
  delete(id: string): Promise<void>;
}

export interface ByokKeysDeps {
  readonly store: ByokKeyStore;
  readonly keys: Pick<KeyStore, 'find'>;
  readonly secrets: Pick<Secrets, 'box'>;
  readonly clock: Clock;
  /** Finds the workspace of a call that may leave it out. @throws GatewayError 400 when there is none */
  readonly workspaceOf: (named: string | undefined) => Promise<string>;
  /**
   * Finds the provider's own slug, and the credential's redacted label.
   * @throws GatewayError 400 for an unknown provider, or a credential that its adapter cannot use
   */
  readonly describe: (
    provider: string,
    key: string,
    workspaceId: string | null,
  ) => Promise<{ readonly provider: string; readonly label: string }>;
  /** Runs when a provider has a credential; settles when the provider is ready for requests. */
  readonly onByok: (provider: string) => Promise<void>;
  /** Finds the provider's own slug by any of its names. */
  readonly slugOf: (provider: string) => string;
}

export function createByokKeys(deps: ByokKeysDeps): ByokKeys {
  const { store, clock } = deps;
  const find = async (id: string): Promise<ByokKeyRow> => {
    const row = isUuid(id) ? await store.find(id) : undefined;
    if (row === undefined) throw unknownCredential();
    return row;
  };
  return {
    async create({ key, ...values }) {
      const workspaceId = values.workspaceId === null ? null : await deps.workspaceOf(values.workspaceId);
      const { provider, label } = await deps.describe(values.provider, key, workspaceId);
      await checkFilters(deps, values);
      if ((await store.count()) >= BYOK_KEYS_MAX)
        throw invalid('provider', `there are ${BYOK_KEYS_MAX} credentials already, the most that an account may have`);
      const id = randomUUID();
      const nowMs = clock.nowMs();
      const row = byokKeyResource.newRow({
        ...values,
        id,
        workspaceId,
        provider,
        label,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
        ...(await seal(deps, { id, provider }, key)),
        sortOrder: values.sortOrder ?? (await store.nextSortOrder(provider)),
      });
      await store.insert(row);
      await deps.onByok(provider);
      return recordOf(row);
    },
    async list(filter) {
      const { provider } = filter;
      const { rows, totalCount } = await store.list({
        ...filter,
        ...(provider !== undefined && { provider: deps.slugOf(provider) }),
      });
      return { rows: rows.map(recordOf), totalCount };
    },
    async get(id) {
      return recordOf(await find(id));
    },
    async update(id, { key, ...input }) {
      const before = await find(id);
      await checkFilters(deps, input);
      const changes: ByokKeyChanges = {
        ...input,
        ...(key !== undefined && {
          label: (await deps.describe(before.provider, key, before.workspaceId)).label,
          ...(await seal(deps, before, key)),
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
  { secrets }: ByokKeysDeps,
  row: Pick<ByokKeyRow, 'id' | 'provider'>,
  key: string,
): Promise<Pick<ByokKeyRow, 'sealed' | 'secretId'>> {
  const box = await secrets.box();
  return { sealed: box.seal(key, purposeOf(row)), secretId: box.currentId };
}

/** Refuses a filter with a key hash that does not exist: it would silently close the credential. @spec byok-4 */
async function checkFilters({ keys }: ByokKeysDeps, { allowedApiKeyHashes }: ByokKeyPatch): Promise<void> {
  for (const [index, hash] of (allowedApiKeyHashes ?? []).entries()) {
    // At most 100, one after the other: an administrative call must not load the database.
    if ((await keys.find(hash)) === undefined)
      throw invalid(`allowed_api_key_hashes[${index}]`, 'is not a key of this account');
  }
}

function recordOf({ sealed: _sealed, secretId: _secretId, updatedAtMs: _updatedAtMs, ...record }: ByokKeyRow) {
  return record;
}

function unknownCredential(): GatewayError {
  return new GatewayError('not_found', 'There is no such credential.');
}
