import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Download } from '../lib/download.ts';
import type { TextInspector } from '../guardrails/contract.ts';
import type { HttpClient } from '../lib/http-client.ts';
import type { McpGateway } from '../mcp/servers.ts';
import type { BetaTable } from '../providers/beta-flags.ts';
import type { SharedState } from '../store/shared/contract.ts';
import type { Log } from '../telemetry/logs.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RegisteredTool } from '../tools/contract.ts';
import type { WebAbilities } from './web-abilities.ts';

/** What most parts need. */
export interface SharedParts {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly download: Download;
  readonly web: WebAbilities;
  readonly mcp: McpGateway;
  /** Runs the filters of guardrails. */
  readonly inspector: TextInspector;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly betaTable: BetaTable;
  readonly baseUrl: () => string;
  readonly random: () => number;
  /** By their type. */
  readonly serverTools: ReadonlyMap<string, RegisteredTool>;
  readonly state: SharedState;
}
