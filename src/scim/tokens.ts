import { hash, randomBytes, randomUUID } from 'node:crypto';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import type { ScimTokenRow } from '../store/scim/columns.ts';
import type { ScimTokenStore } from '../store/scim/tokens.ts';

export type { ScimTokenRow } from '../store/scim/columns.ts';

/** Tokens that open the protocol of identity providers, and nothing else. @spec scim-2 */
export interface ScimTokens {
  /** `token` is shown this once. @throws GatewayError 409 while there are as many as may be */
  create(
    name: string,
    expiresAtMs: number | null | undefined,
  ): Promise<{ readonly row: ScimTokenRow; readonly token: string }>;
  list(): Promise<readonly ScimTokenRow[]>;
  /** @throws GatewayError 404 */
  delete(id: string): Promise<void>;
  /** `undefined`: it opens nothing. @param address where it comes from */
  admit(token: string, address: string): Promise<ScimTokenRow | undefined>;
}

const TOKENS_MAX = 5;
const LIFE_MS = 31_536_000_000;
const TOKEN_BYTES = 32;
const TOKEN = /^scim-[A-Za-z0-9_-]{43}$/;
const SHOWN_CHARS = 4;
const USED_EVERY_MS = 60_000;

export function createScimTokens({
  store,
  clock,
}: {
  readonly store: ScimTokenStore;
  readonly clock: Clock;
}): ScimTokens {
  const digestOf = (token: string): string => hash('sha256', token, 'hex');
  return {
    async create(name, expiresAtMs) {
      const token = `scim-${randomBytes(TOKEN_BYTES).toString('base64url')}`;
      const nowMs = clock.nowMs();
      const row: ScimTokenRow = {
        id: randomUUID(),
        tokenHash: digestOf(token),
        name,
        label: `scim-...${token.slice(-SHOWN_CHARS)}`,
        createdAtMs: nowMs,
        expiresAtMs: expiresAtMs === undefined ? nowMs + LIFE_MS : expiresAtMs,
        lastUsedAtMs: null,
        lastUsedFrom: null,
      };
      if (!(await store.insert(row, TOKENS_MAX)))
        throw new GatewayError('invalid_request', `There are ${TOKENS_MAX} tokens. Delete one of them first.`, {
          status: 409,
        });
      return { row, token };
    },
    list: () => store.list(clock.nowMs()),
    async delete(id) {
      if (!(await store.delete(id))) throw new GatewayError('not_found', 'There is no such token.');
    },
    async admit(token, address) {
      if (!TOKEN.test(token)) return undefined;
      const nowMs = clock.nowMs();
      const row = await store.find(digestOf(token), nowMs);
      if (row === undefined) return undefined;
      const isNoted = nowMs - (row.lastUsedAtMs ?? 0) < USED_EVERY_MS && row.lastUsedFrom === address;
      if (!isNoted) await store.used(row.id, nowMs, address);
      return row;
    },
  };
}
