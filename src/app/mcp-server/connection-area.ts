import { checkAuthorization } from '../../accounts/connections/authorization.ts';
import { createClientDocuments } from '../../accounts/connections/client-documents.ts';
import { createOauthClients } from '../../accounts/connections/clients.ts';
import { createConnections } from '../../accounts/connections/connections.ts';
import { createGrants } from '../../accounts/connections/grants.ts';
import { tooFast } from '../../accounts/limits/rate-limits.ts';
import type { ConnectionServices } from '../../http/console/console-route.ts';
import type { OauthMountDeps } from '../../http/mcp/mount-oauth.ts';
import { placeOf } from '../../http/mcp/place.ts';
import { assert } from '../../lib/assert.ts';
import { createProxyOf } from '../../lib/net/proxy/proxies.ts';
import { isPublicOrOwnAddress } from '../../lib/net/public-address.ts';
import { createMcpClientStore } from '../../store/connections/clients.ts';
import { createMcpConnectionStore } from '../../store/connections/connections.ts';
import type { Foundation } from '../foundation.ts';
import type { Parts } from '../parts.ts';

/** Programs that people let use `/mcp` for them. */
export interface ConnectionArea {
  readonly services: ConnectionServices;
  readonly http: OauthMountDeps;
  close(): Promise<void>;
}

const CALLS = { limit: 60, periodMs: 60_000, words: 'Too many requests for tokens: 60 a minute' } as const;
const REGISTRATIONS = { limit: 10, periodMs: 3_600_000, words: 'Too many registrations: 10 an hour' } as const;

/** @returns `undefined` where it is off */
export function createConnectionArea(
  { shared, storage, accounts }: Foundation,
  { administration, areas }: Pick<Parts, 'administration' | 'areas'>,
): ConnectionArea | undefined {
  const { config, clock, state } = shared;
  const { enabled, oauth, clientDocuments, registration, privateAddresses, clients: configured } = config.mcpServer;
  if (!enabled || !oauth) return undefined;
  const { audit, workspaces, peopleArea } = administration;
  const { issuers } = areas;
  const { keys, admitKey } = accounts;
  const store = createMcpConnectionStore(storage);
  const proxyOf = createProxyOf(config.proxies);
  const guard = { ...(privateAddresses && { isAllowed: isPublicOrOwnAddress }), proxyOf };
  const documents = clientDocuments ? createClientDocuments({ clock, guard }) : undefined;
  const clientStore = createMcpClientStore(storage);
  const clients = createOauthClients({ store: clientStore, configured, documents, registers: registration, clock });
  const workspaceOf = (named: string | undefined): Promise<string> => workspaces.idOf(named);
  const isMember = async (userId: string, workspaceId: string): Promise<boolean> => {
    const user = await peopleArea?.people.admit(userId);
    return peopleArea !== undefined && user !== undefined && peopleArea.people.belongsTo(user, workspaceId);
  };
  return {
    services: {
      check: (parameters, place) => checkAuthorization(clients, parameters, place),
      placeOf,
      ...createConnections({ store, clients, issuers, keys, workspaceOf, audit, clock }),
    },
    http: {
      clients,
      grants: createGrants({ store, keys, admitKey, issuers, isMember, clock }),
      clientDocuments,
      registration,
      isForwarded: config.server.workers > 1,
      async countCall(what, network) {
        const { limit, periodMs, words } = what === 'calls' ? CALLS : REGISTRATIONS;
        const owner = `mcp-oauth:${what}:${network}`;
        const answer = await state.rateLimitState.acquire({
          rates: [{ owner, subject: `${owner}:count`, limit, periodMs, take: 1 }],
        });
        if (answer.ok) return;
        assert(answer.by === 'rates', 'a call takes no slot');
        throw tooFast(words, answer, clock);
      },
    },
    close: async () => documents?.close(),
  };
}
