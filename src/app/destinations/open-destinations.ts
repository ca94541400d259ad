import type { Config } from '../../config/config.ts';
import { createHousekeeping, type Housekeeping } from '../../lib/async/housekeeping.ts';
import type { Clock } from '../../lib/clock.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { SharedState } from '../../state/contract.ts';
import { createDestinationStore } from '../../store/accounts/destinations.ts';
import type { KeyStore } from '../../store/accounts/keys.ts';
import type { Database } from '../../store/engine/database.ts';
import { createCursors } from '../../store/exports/cursors.ts';
import { createExportRows } from '../../store/exports/export-rows.ts';
import type { ContentLog, LogSwitches } from '../../telemetry/content-log.ts';
import { cleanUpExports, type CleanUpDeps } from '../../telemetry/destinations/delivery/clean-up.ts';
import { createDelivery } from '../../telemetry/destinations/delivery/delivery.ts';
import { createDestinations, type Destinations } from '../../telemetry/destinations/destinations.ts';
import { createPatternSearch } from '../../telemetry/destinations/filters/pattern-search.ts';
import { createPoster } from '../../telemetry/destinations/post.ts';
import type { DestinationRow } from '../../resources/destinations.ts';
import type { Log } from '../../telemetry/logs.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { checkShape } from '../../wire/gateway/validation/check-shape.ts';
import { fillConfigs } from '../vault/fill-configs.ts';
import type { VaultArea } from '../vault/vault-area.ts';
import { destinationAddresses } from './destination-addresses.ts';
import { serviceOf } from './service.ts';

export interface DestinationParts {
  readonly config: Pick<Config, 'observability' | 'server'>;
  readonly database: Database;
  readonly keys: Pick<KeyStore, 'find'>;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'exported'>;
  readonly state: Pick<SharedState, 'invalidations'>;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  /** Whether this process sends, and deletes what was sent. */
  readonly keepsStore: boolean;
  readonly vault: Pick<VaultArea, 'values'>;
  /** A destination was turned off after long failure. */
  readonly onDestinationOff: (row: DestinationRow, error: string) => void;
}

const DESTINATIONS_TOPIC = 'destinations';
const CLEAN_UP_EVERY_MS = 60_000;
const PAUSE_MS = 20;

/** The destinations of records, and their delivery. */
export function openDestinations(
  deps: DestinationParts,
  content: Pick<ContentLog, 'read'>,
  switches: { get(workspaceId: string): LogSwitches | Promise<LogSwitches> },
) {
  const { config, database, keys, box, clock, log, metrics, random } = deps;
  const service = serviceOf(config);
  const poster = createPoster(destinationAddresses(config));
  const [rows, cursors] = [createExportRows(database), createCursors(database)];
  const destinations = createDestinations({
    store: createDestinationStore({ database }),
    service,
    cursors,
    rows,
    hidesAnswers: config.observability.privateDestinations,
    keys,
    box,
    poster,
    checkConfig: (schema, value) => void checkShape(schema, value, { root: 'config' }),
    clock,
    fill: fillConfigs(deps.vault.values, service),
    async onChange() {
      await refresh();
      deps.state.invalidations.announce(DESTINATIONS_TOPIC, '');
    },
    onUnreadable: (id, error) => log.general.error({ id, err: error }, 'a destination cannot be read'),
  });
  const patterns = createPatternSearch();
  const delivery = createDelivery({
    destinations,
    rows,
    cursors,
    switches,
    findContent: (id) => content.read(id),
    poster,
    patterns,
    clock,
    random,
    catchUpMs: config.observability.catchUpMs,
    suspendAfterMs: config.observability.suspendAfterMs,
    followsSampledFlag: config.observability.followsSampledFlag,
    sends: deps.keepsStore,
    onOutcome: (type, outcome, count) => metrics.exported(type, outcome, count),
    onState(live, before, after) {
      const facts = {
        id: live.row.id,
        type: live.row.type,
        before,
        state: after.state,
        error: after.lastError?.message,
      };
      log.general.warn(facts, 'the state of a destination changed');
      if (after.state !== 'suspended') return;
      void destinations.suspend(live.row.id).catch(cannotSuspend);
      deps.onDestinationOff(live.row, after.lastError?.message ?? '');
    },
    onWarning: (live, warning) =>
      log.general.warn({ id: live.row.id, warning }, 'a destination took records and warns'),
    onFailed: (error) => log.general.warn({ err: error }, 'destinations could not be sent to: tried again later'),
    onForeign: () => log.general.error(MOVED),
  });
  const cannotSuspend = (error: unknown): void =>
    log.general.warn({ err: error }, 'a destination could not be turned off');
  const cleaning = deps.keepsStore ? [cleaningOf(deps, { destinations, rows, cursors })] : [];
  const refresh = (): Promise<void> =>
    delivery.refresh().catch((error: unknown) => log.general.warn({ err: error }, 'destinations could not be read'));
  deps.state.invalidations.subscribe(DESTINATIONS_TOPIC, () => void refresh());
  return { destinations, delivery, poster, patterns, cleaning };
}

const MOVED =
  'the database was moved to another cluster of PostgreSQL: what waits for destinations is ordered anew, and some of it may be sent twice';

function cleaningOf(
  { config, clock, log, metrics }: DestinationParts,
  { destinations, rows, cursors }: Pick<CleanUpDeps, 'rows' | 'cursors'> & { readonly destinations: Destinations },
): Housekeeping {
  return createHousekeeping({
    work: () =>
      cleanUpExports({
        rows,
        cursors,
        listDestinations: () => destinations.all(),
        nowMs: clock.nowMs,
        retentionMs: config.observability.exportRetentionMs,
        bytesMax: config.observability.exportBytesMax,
        onDropped: (type, count) => metrics.exported(type, 'dropped', count),
        onForeign: () => log.general.error(MOVED),
      }),
    everyMs: CLEAN_UP_EVERY_MS,
    pauseMs: PAUSE_MS,
    onFailed: (error) =>
      log.general.warn({ err: error }, 'records that were sent could not be deleted: tried again later'),
  });
}
