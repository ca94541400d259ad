import type { Config } from './config/config.ts';
import type { Clock } from './lib/clock.ts';
import type { Download } from './lib/download.ts';
import type { HttpClient } from './lib/http-client.ts';
import type { BetaTable } from './providers/beta-flags.ts';
import type { SharedState } from './store/shared/contract.ts';
import type { Log } from './telemetry/logs.ts';
import type { Metrics } from './telemetry/metrics.ts';

/** What most parts need. */
export interface SharedParts {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly download: Download;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly betaTable: BetaTable;
  readonly baseUrl: () => string;
  readonly random: () => number;
  readonly state: SharedState;
}
