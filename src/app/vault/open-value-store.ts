import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { createHttpClient } from '../../lib/net/http-client.ts';
import { createProxyOf } from '../../lib/net/proxy/proxies.ts';
import type { ValueStore } from '../../vault/back-ends/contract.ts';
import { createFileStore } from '../../vault/back-ends/file.ts';
import { createHashicorpStore } from '../../vault/back-ends/hashicorp.ts';

/** Where the configuration keeps values outside of the database. */
export function openValueStore(
  { vault: { backEnd }, proxies }: Pick<Config, 'vault' | 'proxies'>,
  clock: Pick<Clock, 'monotonicMs'>,
): { readonly outside: ValueStore | undefined; readonly close: () => Promise<void> } {
  if (backEnd?.kind === 'hashicorp') {
    const http = createHttpClient({ proxyOf: createProxyOf(proxies) });
    return { outside: createHashicorpStore(backEnd, http, () => clock.monotonicMs()), close: () => http.close() };
  }
  return { outside: backEnd && createFileStore(backEnd.folder), close: () => Promise.resolve() };
}
