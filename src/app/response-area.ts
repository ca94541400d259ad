import type { Config } from '../config/config.ts';
import { createHousekeeping } from '../lib/async/housekeeping.ts';
import type { Clock } from '../lib/clock.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { GenerateDeps } from '../pipeline/generate.ts';
import type { SharedState } from '../state/contract.ts';
import type { Database } from '../store/engine/database.ts';
import { createStoredRows } from '../store/responses/response-rows.ts';
import { createFindGoneOwners } from '../store/responses/gone-owners.ts';
import { createStoredResponses, type StoredResponses } from '../stored-responses/stored-responses.ts';
import type { Log } from '../telemetry/logs.ts';

/** Responses that are kept, and what clears away after them. */
export interface ResponseArea {
  readonly storedResponses: StoredResponses;
  start(): void;
  close(): Promise<void>;
}

/** What is deleted with its key or workspace is gone within a minute. */
const CLEAR_EVERY_MS = 20_000;
const CLEAR_PAUSE_MS = 100;

interface ResponseAreaDeps {
  readonly config: Pick<Config, 'responses' | 'server' | 'defaults'>;
  readonly database: Database;
  readonly state: Pick<SharedState, 'responses'>;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this process clears away for all; one process of a gateway does. */
  readonly keepsStore: boolean;
}

export function createResponseArea(
  parts: ResponseAreaDeps,
  { policyOf }: Pick<GenerateDeps, 'policyOf'>,
): ResponseArea {
  const { config, database, state, clock, log } = parts;
  const { store, share } = config.responses;
  const { retentionMs, bytesMaxPerKey } = config.responses;
  const stored =
    store === 'database'
      ? createStoredRows({ database, box: parts.box, clock, retentionMs, bytesMaxPerKey })
      : undefined;
  const rows = stored ?? state.responses;
  const findGone = createFindGoneOwners({ database, withKeys: share === 'key' });
  const housekeeping = createHousekeeping({
    async work() {
      for (const owner of await findGone(await rows.owners())) await rows.deleteOf(owner);
      return stored === undefined ? false : stored.clearAway();
    },
    everyMs: CLEAR_EVERY_MS,
    pauseMs: CLEAR_PAUSE_MS,
    onFailed: (error) =>
      log.general.warn({ err: error }, 'kept responses could not be cleared away: tried again later'),
  });
  return {
    storedResponses: createStoredResponses({
      config: { store, share, zdr: config.defaults.provider.zdr === true, bytesMax: config.server.maxBodyBytes },
      rows,
      policyOf,
      clock,
      onLost: (responseId, error) => log.general.error({ responseId, err: error }, 'a response was not kept'),
    }),
    start() {
      if (parts.keepsStore && store !== 'off') housekeeping.start();
    },
    close: () => housekeeping.stop(),
  };
}
