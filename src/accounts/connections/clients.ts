import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { Json } from '../../lib/json.ts';
import type { McpClientStore } from '../../store/connections/clients.ts';
import { isDocumentAddress, parseClientFacts, type ClientDocuments, type ClientFacts } from './client-documents.ts';
import { OauthRefusal } from './oauth-refusal.ts';

/** A program that asks for a connection. */
export interface OauthClient extends ClientFacts {
  readonly id: string;
  /** Of its document, which none but its owner can write. Null: it named itself, and anything can have its name. */
  readonly host: string | null;
  /** The operator named it in the configuration. */
  readonly isKnown: boolean;
}

export interface OauthClients {
  /** @throws OauthRefusal */
  find(clientId: string): Promise<OauthClient>;
  /** Notes that a person agreed to it. */
  used(client: OauthClient): Promise<void>;
  /** @throws OauthRefusal */
  register(metadata: Json | undefined): Promise<OauthClient & { readonly createdAtMs: number }>;
}

export interface OauthClientsDeps {
  readonly store: McpClientStore;
  /** Those of the configuration. */
  readonly configured: readonly {
    readonly id: string;
    readonly name: string;
    readonly redirectUris: readonly string[];
  }[];
  /** Absent: clients are not named by documents. */
  readonly documents: ClientDocuments | undefined;
  /** Whether clients may register themselves. */
  readonly registers: boolean;
  readonly clock: Clock;
}

const REGISTERED = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CLIENTS_MAX = 1_000;
const UNUSED_MS_MAX = 86_400_000;
const UNNAMED = 'A program';

export function createOauthClients({ store, configured, documents, registers, clock }: OauthClientsDeps): OauthClients {
  return {
    async find(clientId) {
      const known = configured.find(({ id }) => id === clientId);
      if (known !== undefined) return { ...known, host: null, isKnown: true };
      if (documents !== undefined && isDocumentAddress(clientId)) {
        const facts = await documents.read(clientId);
        return { ...facts, id: clientId, host: new URL(clientId).host, isKnown: false };
      }
      const row = registers && REGISTERED.test(clientId) ? await store.find(clientId) : undefined;
      if (row === undefined) throw new OauthRefusal('invalid_client', 'client_id: names no client of this gateway.');
      return { id: row.id, name: row.name, redirectUris: row.redirectUris, host: null, isKnown: false };
    },
    async used({ id }) {
      if (REGISTERED.test(id)) await store.used(id, clock.nowMs());
    },
    async register(metadata) {
      const facts = parseClientFacts(metadata, UNNAMED);
      const createdAtMs = clock.nowMs();
      const row = { ...facts, id: randomUUID(), createdAtMs, usedAtMs: null };
      if (!(await store.insert(row, createdAtMs - UNUSED_MS_MAX, CLIENTS_MAX)))
        throw new OauthRefusal('temporarily_unavailable', 'Too many clients are registered. Try again tomorrow.');
      return { ...facts, id: row.id, host: null, isKnown: false, createdAtMs };
    },
  };
}
