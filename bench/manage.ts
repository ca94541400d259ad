export const MANAGEMENT_KEY = 'bench-management-key-0123456789abcdef';

/** Calls the management API of a gateway. @throws Error with the answer when it is not a good one */
export async function manage(
  server: { readonly host: string; readonly port: number },
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(`http://${server.host}:${server.port}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** @param limitUsd what the key may spend; absent: no limit. */
export async function createKey(
  server: { readonly host: string; readonly port: number },
  key: { readonly name: string; readonly limitUsd?: number; readonly reset?: 'daily' },
): Promise<string> {
  const made = await manage(server, 'POST', '/keys', {
    name: key.name,
    ...(key.limitUsd !== undefined && { limit: key.limitUsd }),
    ...(key.reset !== undefined && { limit_reset: key.reset }),
  });
  return String(made['key']);
}
