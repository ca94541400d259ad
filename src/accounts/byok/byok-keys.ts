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

/** A credential as its owner sees it. What is secret of it is never shown. */
export type ByokKeyRecord = Omit<ByokKeyRow, 'sealed' | 'secretId' | 'updatedAtMs'>;

/** With a credential that takes the place of the old one. */
export type ByokKeyInput = ByokKeyPatch & { readonly key?: string | undefined };
export type NewByokKey = NewByokKeyValues & { readonly key: string };

/** Credentials of providers that the account brings. */
export interface ByokKeys {
  /** @throws GatewayError 400 for an unknown provider, or a credential that cannot be one */
  create(newByokKey: NewByokKey): Promise<ByokKeyRecord>;
  list(filter: ByokKeyFilter): Promise<Page<ByokKeyRecord>>;
  /** @throws GatewayError 404 */
  get(id: string): Promise<ByokKeyRecord>;
  /** What is left out stays as it is. A new credential takes the place of the old one. @throws GatewayError 400, 404 */
  update(id: string, input: ByokKeyInput): Promise<ByokKeyRecord>;
  /** @throws GatewayError 404 */
  delete(id: string): Promise<void>;
}

export interface ByokKeysDeps {
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
  readonly onByok: (provider: string) => Promise<void>;
  /** The provider's own slug, whichever of its names is used. */
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
      const { provider, label } = deps.describe(values.provider, key);
      await checkFilters(deps, values);
      const workspaceId = values.workspaceId === null ? null : await deps.workspaceOf(values.workspaceId);
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
          label: deps.describe(before.provider, key).label,
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

/** A filter that names nobody's key would close the credential without a word. @spec byok-4 */
async function checkFilters({ keys }: ByokKeysDeps, { allowedApiKeyHashes }: ByokKeyPatch): Promise<void> {
  for (const [index, hash] of (allowedApiKeyHashes ?? []).entries()) {
    // At most 100, one after the other: administration is no reason to load the database.
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
