import { join } from 'node:path';
import { createAuthenticator, createKeyAdmission } from '../accounts/keys/authenticate.ts';
import { createKeys, type StaticKeys } from '../accounts/keys/keys.ts';
import type { Config } from '../config/config.ts';
import { createTextInspector } from '../content-filters/inspector.ts';
import { createBodyBudget } from '../http/body-budget.ts';
import type { BodyLimits } from '../http/read-body.ts';
import { createLoopTurns } from '../lib/async/loop-turns.ts';
import { systemClock } from '../lib/clock.ts';
import { makeFolder } from '../lib/files/make-folder.ts';
import { createSpool } from '../lib/files/spool.ts';
import { createDownloader, type DownloaderOptions } from '../lib/net/download.ts';
import { createHttpClient, createInflateMemory, type HttpClient } from '../lib/net/http-client.ts';
import { createProxyOf } from '../lib/net/proxy/proxies.ts';
import { createFileMemory } from '../pipeline/attempt/request/inline-media.ts';
import type { RunnerDeps } from '../interns/runner-deps.ts';
import type { JobTimes } from '../jobs/engine-deps.ts';
import { createBetaTable } from '../providers/beta-flags.ts';
import { startSandbox } from '../sandbox/server.ts';
import { createKeyStore } from '../store/accounts/keys.ts';
import { createLog, type Log } from '../telemetry/logs.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import type { RegisteredTool } from '../tools/contract.ts';
import { SERVER_TOOLS } from '../tools/index.ts';
import type { Accounting } from './accounting.ts';
import { openMcpServers } from './tools/mcp-from-config.ts';
import type { SharedDeps } from './shared-deps.ts';
import type { OpenStorage, Storage } from './storage.ts';
import { readVersion } from './version.ts';
import { shell } from '../tools/bash/shell.ts';
import { sandboxedBash } from '../tools/bash/tool.ts';
import { openContainerArea } from './tools/container-area.ts';
import { openVaultArea } from './vault/vault-area.ts';
import type { VideoTimes } from '../video-jobs/poll-job.ts';
import { createWebAbilities } from './web-abilities.ts';

/** What every process of a gateway is built from. */
export interface GatewayOptions {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log?: Log;
  /** Limits on a request body that the configuration does not name. */
  readonly bodyLimits?: Partial<BodyLimits>;
  /** Which addresses callers may have fetched; default: https on the public Internet. */
  readonly downloads?: DownloaderOptions;
  /** Whether engines that run on this machine are looked for. Default: no. */
  readonly findsLocalServers?: boolean;
  /** From 0 up to, not including, 1: selects one of several endpoints. Default: random. */
  readonly random?: () => number;
  /** Intervals of jobs that make clips. Default: docs/limits.md. */
  readonly videoTimes?: Partial<VideoTimes>;
  /** Intervals of the jobs engine. Default: docs/limits.md. */
  readonly jobTimes?: Partial<JobTimes>;
  /** Between two looks for what operators are to be notified of. Default: docs/limits.md. */
  readonly notificationTickMs?: number;
  /** For tests: what happens at the border of a step of a run. */
  readonly onInternStep?: RunnerDeps['onBorder'];
  /** Server tools beside those of the registry; one of a type that it has stands in for that. */
  readonly serverTools?: readonly RegisteredTool[];
  /** The folder of the dashboard. Default: that of the sources. */
  readonly dashboardFolder?: string;
  /** Keeps accounts in place of what was built for it: to measure what they cost (`bench/`). */
  readonly accounting?: (built: Accounting) => Accounting;
}

/** What everything else stands on, and what is closed last. */
export interface Foundation<Kind extends Storage = Storage> {
  readonly shared: SharedDeps;
  readonly storage: Kind;
  readonly accounts: ReturnType<typeof createAccounts>;
  readonly sandboxBaseUrl: string;
  /** Called once it is known: port 0 selects a free one. */
  listensAt(url: string): void;
  close(): Promise<void>;
}

export async function openFoundation<Kind extends Storage>(
  options: GatewayOptions,
  openStorage: OpenStorage<Kind>,
): Promise<Foundation<Kind>> {
  const { config, env, random = Math.random } = options;
  const log = options.log ?? createLog(config.logLevel, config.logFormat);
  const clock = systemClock;
  const containers = await openContainerArea(config, env, clock, log);
  const serverTools = toolsOf(options, containers.shell !== undefined);
  const metrics = createMetrics(readVersion());
  // Not with the first upload.
  if (config.files.directory !== undefined) await makeFolder(config.files.directory);
  const spool = createSpool(join(config.dataDir, 'spool'));
  await spool.clear();
  const storage = await openStorage({ config, clock, log, metrics });
  const { state, database } = storage;
  const vault = openVaultArea({ config, database, invalidations: state.invalidations, clock, log });
  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  const http = createProviderClient(config);
  const downloader = createDownloader({ proxyOf: createProxyOf(config.proxies), ...options.downloads });
  const { download } = downloader;
  const fileMemory = createFileMemory(config.server.fileMemoryBytes);
  const web = createWebAbilities({ config, env, clock, http, download, fileMemory, vault }, options.downloads);
  const mcp = openMcpServers({ config, env, clock, log, fileMemory, vault });
  const inspector = createTextInspector();
  const betaTable = createBetaTable(config.betaFlags);
  let address = '';
  const baseUrl = (): string => `${address}/v1`;
  return {
    shared: {
      config,
      env,
      clock,
      http,
      download,
      vault,
      ...(containers.shell !== undefined && { shell: containers.shell }),
      ...(containers.problem !== undefined && { containerProblem: containers.problem }),
      web,
      mcp,
      inspector,
      metrics,
      log,
      betaTable,
      bodies: createBodyBudget(config.memory.bodyBytes),
      spool,
      fileMemory,
      turns: createLoopTurns({ clock }),
      baseUrl,
      random,
      serverTools,
      state,
    },
    storage,
    accounts: createAccounts(config, storage),
    sandboxBaseUrl: sandbox.baseUrl,
    listensAt(url) {
      address = url;
    },
    async close() {
      const others = [downloader, web, mcp, inspector, sandbox];
      await Promise.all([http.close(), containers.close(), vault.close(), ...others.map((other) => other.close())]);
      await storage.close();
      log.flush();
    },
  };
}

/** What providers are called through. */
function createProviderClient({ memory, proxies }: Config): HttpClient {
  return createHttpClient({
    inflateMemory: createInflateMemory(memory.inflateBytes),
    pausedBytesMax: memory.unreadBytes,
    proxyOf: createProxyOf(proxies),
  });
}

/** Those of the registry; the operator's own, and shells where there are containers, stand in for those of their types. */
function toolsOf({ serverTools = [] }: GatewayOptions, hasShell: boolean): ReadonlyMap<string, RegisteredTool> {
  const further = [...(hasShell ? [sandboxedBash, shell] : []), ...serverTools];
  return new Map<string, RegisteredTool>([...SERVER_TOOLS, ...further.map((tool) => [tool.type, tool] as const)]);
}

function createAccounts(config: Config, { database, state }: Storage) {
  const clock = systemClock;
  const staticKeys = staticKeysFrom(config);
  const store = createKeyStore({ database, invalidations: state.invalidations });
  const admitKey = createKeyAdmission({ keys: store, clock, staticKeys });
  return {
    admitKey,
    staticKeys,
    keyStore: store,
    keys: createKeys({ store, clock }),
    authenticate: createAuthenticator(admitKey),
  };
}

function staticKeysFrom({ managementKey, apiKey }: Config): StaticKeys {
  return {
    ...(managementKey !== undefined && { management: managementKey }),
    ...(apiKey !== undefined && { normal: apiKey }),
  };
}
