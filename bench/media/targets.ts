import { Pool } from 'undici';

import { GATEWAY_KEY } from '../gateway.ts';
import type { ServerProcess } from '../processes.ts';

/** What requests are sent to. */
export interface Target {
  readonly server: ServerProcess;
  readonly pool: Pool;
  readonly nameOf: (model: string) => string;
}

export interface Targets {
  readonly proxy: Target;
  readonly gateway: Target;
}

export function targetOf(server: ServerProcess, isGateway: boolean): Target {
  const pool = new Pool(`http://${server.host}:${server.port}`, {
    connections: 128,
    pipelining: 1,
    headersTimeout: 60_000,
  });
  return { server, pool, nameOf: (model) => (isGateway ? `bench/${model}` : model) };
}

interface Sent {
  readonly method?: 'GET' | 'POST';
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** One request and its whole answer. @returns when the first byte came, ms after the request, and how many there were */
export async function call(
  { pool }: Target,
  path: string,
  { method = 'POST', body, headers, key = GATEWAY_KEY }: Sent,
): Promise<{ readonly firstMs: number; readonly bytes: number }> {
  const sentMs = performance.now();
  const answer = await pool.request({
    path,
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
  });
  if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${await answer.body.text()}`);
  let firstMs = 0;
  let bytes = 0;
  for await (const chunk of answer.body) {
    if (!(chunk instanceof Uint8Array)) continue;
    if (bytes === 0) firstMs = performance.now() - sentMs;
    bytes += chunk.length;
  }
  return { firstMs, bytes };
}
