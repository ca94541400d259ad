import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { createHttpClient } from '../../lib/net/http-client.ts';
import type { ValueStore } from '../../vault/back-ends/contract.ts';
import { createFileStore } from '../../vault/back-ends/file.ts';
import { createHashicorpStore } from '../../vault/back-ends/hashicorp.ts';

/** Where the configuration keeps values outside of the database. */
export function openValueStore(
  { backEnd }: Pick<Config['vault'], 'backEnd'>,
  clock: Pick<Clock, 'monotonicMs'>,
): { readonly outside: ValueStore | undefined; readonly close: () => Promise<void> } {
  if (backEnd?.kind === 'hashicorp') {
    const http = createHttpClient();
    return { outside: createHashicorpStore(backEnd, http, () => clock.monotonicMs()), close: () => http.close() };
  }
  return { outside: backEnd && createFileStore(backEnd.folder), close: () => Promise.resolve() };
}
