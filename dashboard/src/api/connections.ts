import { queryOptions } from '@tanstack/react-query';
import { ApiError, isRecord } from './errors.ts';
import { callConsole } from './transport.ts';

export const SCOPES = ['mcp:read', 'mcp:spend', 'mcp:feedback'] as const;
export type Scope = (typeof SCOPES)[number];

/** A program that asks for a connection to the MCP server. */
export interface ConnectionRequest {
  readonly clientName: string;
  /** Of its document, which none but its owner writes. */
  readonly clientHost: string | undefined;
  /** The operator named it in the configuration. */
  readonly isKnown: boolean;
  readonly redirectHost: string;
  /** Any program on this machine may be the one that asks. */
  readonly isLoopback: boolean;
  readonly scopes: readonly Scope[];
  readonly denialUrl: string;
}

export interface Allowance {
  readonly query: string;
  readonly scopes: readonly Scope[];
  readonly workspace_id?: string;
  readonly limit: number | null;
  readonly limit_reset: 'daily' | 'weekly' | 'monthly' | null;
  readonly expires_at: string | null;
}

/** A program that may use the MCP server. */
export interface Connection {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly clientHost: string | undefined;
  readonly keyHash: string;
  /** That allowed it; absent: an operator did. */
  readonly userId: string | undefined;
  readonly workspaceId: string;
  readonly scopes: readonly string[];
  readonly createdAt: string | undefined;
  readonly lastUsedAt: string | undefined;
  readonly expiresAt: string | undefined;
}

/** @throws ApiError */
export async function readConnectionRequest(query: string): Promise<ConnectionRequest> {
  const data = dataOf(await callConsole('POST', '/ui/api/connections/request', { query }));
  const scopes = Array.isArray(data['scopes']) ? data['scopes'] : [];
  return {
    clientName: textOf(data['client_name']) ?? '',
    clientHost: textOf(data['client_host']),
    isKnown: data['is_known'] === true,
    redirectHost: textOf(data['redirect_host']) ?? '',
    isLoopback: data['is_loopback'] === true,
    scopes: SCOPES.filter((scope) => scopes.includes(scope)),
    denialUrl: textOf(data['denial_url']) ?? '/',
  };
}

/** @returns where the browser goes. @throws ApiError */
export async function allowConnection(allowance: Allowance): Promise<string> {
  const url = textOf(dataOf(await callConsole('POST', '/ui/api/connections', allowance))['url']);
  if (url === undefined) throw new ApiError(0, 'The gateway made no connection.');
  return url;
}

export async function endConnection(id: string): Promise<void> {
  await callConsole('DELETE', `/ui/api/connections/${encodeURIComponent(id)}`);
}

/** Null: programs connect with API keys alone. */
export const connectionsQuery = queryOptions({
  queryKey: ['connections'],
  queryFn: async (): Promise<readonly Connection[] | null> => {
    try {
      const body = await callConsole('GET', '/ui/api/connections');
      const rows: readonly unknown[] = isRecord(body) && Array.isArray(body['data']) ? body['data'] : [];
      return rows.flatMap((row) => (isRecord(row) ? [toConnection(row)] : []));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  },
});

function toConnection(row: Readonly<Record<string, unknown>>): Connection {
  const scopes: readonly unknown[] = Array.isArray(row['scopes']) ? row['scopes'] : [];
  return {
    id: textOf(row['id']) ?? '',
    clientId: textOf(row['client_id']) ?? '',
    clientName: textOf(row['client_name']) ?? '',
    clientHost: textOf(row['client_host']),
    keyHash: textOf(row['key_hash']) ?? '',
    userId: textOf(row['user_id']),
    workspaceId: textOf(row['workspace_id']) ?? '',
    createdAt: textOf(row['created_at']),
    scopes: scopes.filter((scope) => typeof scope === 'string'),
    lastUsedAt: textOf(row['last_used_at']),
    expiresAt: textOf(row['expires_at']),
  };
}

function dataOf(body: unknown): Readonly<Record<string, unknown>> {
  return isRecord(body) && isRecord(body['data']) ? body['data'] : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
