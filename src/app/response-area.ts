import { conversationScope } from '../accounts/principal.ts';
import type { Config } from '../config/config.ts';
import { createResponsesDecoder } from '../http/generation/decode-responses.ts';
import { createHousekeeping } from '../lib/async/housekeeping.ts';
import type { Clock } from '../lib/clock.ts';
import { parseJsonObject } from '../lib/json.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import { chargeLostRun } from '../pipeline/background/charge-lost-run.ts';
import { checkAccepted } from '../pipeline/background/check-accepted.ts';
import { createGenerate, type GenerateDeps } from '../pipeline/generate.ts';
import type { AccountAreas } from './account-areas.ts';
import type { ClientFormats } from './client-formats.ts';
import type { SharedState } from '../state/contract.ts';
import type { Database } from '../store/engine/database.ts';
import { createFindGoneOwners } from '../store/responses/gone-owners.ts';
import { createFindRefusedKeys } from '../store/responses/refused-keys.ts';
import { createStoredRows, type StoredRows } from '../store/responses/response-rows.ts';
import { createBackgroundResponses } from '../stored-responses/background/background.ts';
import { BackgroundRunner } from '../stored-responses/background/runner.ts';
import type { KnownOrigins } from '../stored-responses/origins.ts';
import { createStoredResponses, type StoredResponses } from '../stored-responses/stored-responses.ts';
import type { Log } from '../telemetry/logs.ts';

/** Responses that are kept, what runs them in the background, and what clears away after them. */
export interface ResponseArea {
  readonly storedResponses: StoredResponses;
  /** Before any process of the gateway serves: what an earlier gateway ran is to be taken over. */
  recover(): Promise<void>;
  start(): void;
  /** What runs in the background ends, or waits for another process. Before records are closed. */
  drain(drainMs: number): Promise<void>;
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
  /** Whether this process serves generations, and so runs them in the background, too. */
  readonly serves: boolean;
  readonly formats: Pick<ClientFormats, 'responses'>;
  readonly services: Pick<AccountAreas['services'], 'presets'>;
}

export function createResponseArea(parts: ResponseAreaDeps, generateDeps: GenerateDeps): ResponseArea {
  const { config, database, state, clock, log } = parts;
  const { store, share, retentionMs, bytesMaxPerKey, eventsMs, echo } = config.responses;
  const stored =
    store === 'database'
      ? createStoredRows({ database, box: parts.box, clock, retentionMs, bytesMaxPerKey, eventsMs })
      : undefined;
  const rows = stored ?? state.responses;
  const runs = stored !== undefined && config.responses.background ? stored : undefined;
  const origins = originsIn(generateDeps.memory);
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
  let runner: BackgroundRunner | undefined;
  const storedResponses = createStoredResponses({
    config: { store, share, zdr: config.defaults.provider.zdr === true, bytesMax: config.server.maxBodyBytes },
    rows,
    origins,
    policyOf: generateDeps.policyOf,
    clock,
    background:
      runs &&
      createBackgroundResponses({ ...runs, rows: runs, origins, clock, echo, onAccepted: () => runner?.nudge() }),
    checkAccepted: ({ generationId: id, ...of }) => checkAccepted(generateDeps, { id, ...of }),
    onLost: (responseId, error) => log.general.error({ responseId, err: error }, 'a response was not kept'),
  });
  if (runs !== undefined && parts.serves) runner = createRunner(parts, generateDeps, runs, storedResponses);
  return {
    storedResponses,
    async recover() {
      // No other gateway has the embedded database; on PostgreSQL another one may live, and leases say so.
      if (database.engine === 'sqlite') await runs?.tasks.forgetRunners();
    },
    start() {
      runner?.start();
      if (parts.keepsStore && store !== 'off') housekeeping.start();
    },
    drain: (drainMs) => runner?.close(drainMs) ?? Promise.resolve(),
    close: () => housekeeping.stop(),
  };
}

function originsIn(memory: GenerateDeps['memory']): KnownOrigins {
  return {
    originOf: (owner, encrypted) => memory.originOf(conversationScope(owner), encrypted),
    learn: (owner, encrypted, provider) => memory.learnOrigin(conversationScope(owner), encrypted, provider),
  };
}

function createRunner(
  { config, database, clock, log, formats, services: { presets } }: ResponseAreaDeps,
  generateDeps: GenerateDeps,
  rows: StoredRows,
  kept: StoredResponses,
): BackgroundRunner {
  const rename = (name: string): string => generateDeps.catalog.rename?.(name) ?? name;
  const { responses: format } = formats;
  const decode = createResponsesDecoder(format, { presets, rename }, kept);
  return new BackgroundRunner({
    rows,
    tasks: rows.tasks,
    events: rows.events,
    origins: originsIn(generateDeps.memory),
    generate: createGenerate(generateDeps),
    format,
    decode: ({ text, headers, principal }) => decode({ text, headers, principal, body: parseJsonObject(text) ?? null }),
    findRefusedKeys: createFindRefusedKeys(database, clock),
    chargeLost: (lost) => chargeLostRun(generateDeps, lost),
    clock,
    totalMs: config.responses.backgroundMs,
    perKey: config.responses.backgroundPerKey,
    onFailed: (responseId, error) =>
      log.general.error({ responseId, err: error }, 'a response in the background could not be run or stored'),
  });
}
