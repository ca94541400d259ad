import type { Containers } from '../containers/containers.ts';
import type { Config } from '../config/config.ts';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import type { Clock } from '../lib/clock.ts';
import type { Spool } from '../lib/files/spool.ts';
import type { Download } from '../lib/net/download.ts';
import type { TextInspector } from '../content-filters/contract.ts';
import type { BodyBudget } from '../http/body-budget.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import type { LoopTurns } from '../lib/async/loop-turns.ts';
import type { McpGateway } from '../mcp/servers.ts';
import type { BetaTable } from '../providers/beta-flags.ts';
import type { SharedState } from '../state/contract.ts';
import type { Log } from '../telemetry/logs.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RegisteredTool } from '../tools/contract.ts';
import type { VaultArea } from './vault/vault-area.ts';
import type { WebAbilities } from './web-abilities.ts';

/** What most parts need. */
export interface SharedDeps {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly download: Download;
  /** Memory for the bodies of all requests under way. */
  readonly bodies: BodyBudget;
  /** Keeps the files of forms under way. */
  readonly spool: Spool;
  /** Memory for files of requests and for pages: all that is fetched for them. */
  readonly fileMemory: ByteBudget;
  /** In which large requests and answers are worked on. */
  readonly turns: LoopTurns;
  readonly vault: VaultArea;
  /** Why containers that are configured stay off. */
  readonly containerProblem?: string;
  /** Absent: there are no containers. */
  readonly shell?: Containers;
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
