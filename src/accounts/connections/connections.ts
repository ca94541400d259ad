import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { LimitReset } from '../../resources/keys.ts';
import type { McpConnectionRow, McpConnectionStore } from '../../store/connections/connections.ts';
import type { Audit } from '../audit.ts';
import { digestOf, newSecret } from '../console/secrets.ts';
import type { CodeIssuers } from '../keys/code-issuers.ts';
import type { Keys } from '../keys/keys.ts';
import { belongsTo, notYours, type Viewer } from '../people/viewer.ts';
import type { Principal } from '../principal.ts';
import type { AuthorizationRequest, McpScope } from './authorization.ts';
import type { OauthClients } from './clients.ts';

/** A person that is signed in to the dashboard. */
export interface Person {
  readonly principal: Principal;
  /** Absent: an operator, or a key. */
  readonly viewer?: Viewer | undefined;
}

/** What a person allows. */
export interface Allowance {
  readonly scopes: readonly McpScope[];
  readonly workspaceId: string | undefined;
  readonly limitNanoUsd: number | null;
  readonly limitReset: LimitReset | null;
  readonly expiresAtMs: number | null;
}

/** Programs that people let use `/mcp` for them. */
export interface Connections {
  /** @returns a code, which is in the one address that shows it and nowhere else. @throws GatewayError 400, 403, 404, 429 */
  allow(person: Person, request: AuthorizationRequest, allowance: Allowance): Promise<string>;
  /** Lists the newest first that are in force: for operators all, for others their own. */
  list(person: Person): Promise<readonly McpConnectionRow[]>;
  /** Ends one of them, and deletes its key. @throws GatewayError 404 */
  end(person: Person, id: string): Promise<void>;
}

export interface ConnectionsDeps {
  readonly store: McpConnectionStore;
  readonly clients: Pick<OauthClients, 'used'>;
  readonly issuers: CodeIssuers;
  readonly keys: Pick<Keys, 'delete'>;
  /** @throws GatewayError 400 */
  readonly workspaceOf: (named: string | undefined) => Promise<string>;
  readonly audit: Pick<Audit, 'record'>;
  readonly clock: Clock;
}

const CODE_LIFE_MS = 60_000;
const OPEN_CODES_MAX = 20;
/** Of one person. */
const CONNECTIONS_MAX = 100;
const LISTED_MAX = 500;

export function createConnections(deps: ConnectionsDeps): Connections {
  const { store, clients, issuers, audit, clock } = deps;
  return {
    async allow(person, request, { scopes, limitNanoUsd, limitReset, expiresAtMs, workspaceId: named }) {
      const { principal } = person;
      const refusal = await issuers.refusalOf(principal.keyHash, principal.memberId);
      if (refusal !== undefined) throw new GatewayError('permission_denied', refusal);
      if (scopes.length === 0) throw invalid('scopes', 'must have at least one');
      const nowMs = clock.nowMs();
      if (expiresAtMs !== null && expiresAtMs <= nowMs) throw invalid('expires_at', 'must be in the future');
      const workspaceId = await workspaceFor(deps, person, named);
      if ((await store.count(principal.keyHash, nowMs)) >= CONNECTIONS_MAX)
        throw tooMany('You have as many connections as you may. End some of them first.');
      const { client, redirectUri, challenge, resource } = request;
      const code = newSecret();
      const row = {
        codeHash: digestOf(code),
        issuerKeyHash: principal.keyHash,
        userId: principal.memberId,
        connectionId: randomUUID(),
        expiresAtMs: nowMs + CODE_LIFE_MS,
        usedAtMs: null,
        consent: {
          clientId: client.id,
          clientName: client.name,
          clientHost: client.host,
          redirectUri,
          challenge,
          resource,
          scopes,
          issuerLabel: principal.label,
          workspaceId,
          limitNanoUsd,
          limitReset,
          expiresAtMs,
        },
      };
      if (!(await store.insertCode(row, nowMs, OPEN_CODES_MAX)))
        throw tooMany('Too many connections at once. Try again in a minute.');
      await clients.used(client);
      await audit.record({
        actor: principal,
        action: 'allowConnection',
        subject: `/connections/${row.connectionId}`,
        changes: { client_id: client.id, client_name: client.name, scopes: [...scopes], workspace_id: workspaceId },
      });
      return code;
    },
    list: ({ principal }) =>
      store.list(clock.nowMs(), LISTED_MAX, principal.kind === 'management' ? undefined : principal.keyHash),
    async end({ principal }, id) {
      const found = await store.find(id);
      const isTheirs = principal.kind === 'management' || found?.issuerKeyHash === principal.keyHash;
      if (found === undefined || !isTheirs || !(await endConnection(deps, found)))
        throw new GatewayError('not_found', 'There is no such connection.');
      const changes = { client_id: found.clientId };
      await audit.record({ actor: principal, action: 'endConnection', subject: `/connections/${id}`, changes });
    },
  };
}

/** Ends a connection with its tokens and its key. @returns whether it was in force */
export async function endConnection(
  { store, keys, clock }: Pick<ConnectionsDeps, 'store' | 'keys' | 'clock'>,
  { id, keyHash }: McpConnectionRow,
): Promise<boolean> {
  const isEnded = await store.revoke(id, clock.nowMs());
  await keys.delete(keyHash).catch((error: unknown) => {
    // It was deleted before.
    if (!(error instanceof GatewayError && error.status === 404)) throw error;
  });
  return isEnded;
}

async function workspaceFor(
  { workspaceOf }: ConnectionsDeps,
  { principal, viewer }: Person,
  named: string | undefined,
): Promise<string> {
  if (viewer === undefined && principal.kind === 'normal') {
    if (named !== undefined && named !== principal.workspaceId)
      throw invalid('workspace_id', "is not the key's own workspace");
    return principal.workspaceId;
  }
  if (viewer !== undefined && named !== undefined && !belongsTo(viewer, named)) throw notYours();
  return workspaceOf(named);
}

function tooMany(message: string): GatewayError {
  return new GatewayError('rate_limit_exceeded', message);
}
