import { rmSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp, type App, type AppOptions } from '../../src/app.ts';
import { embeddedDatabaseOf } from '../../src/app/embedded-database.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { ADAPTER_IDS, ADAPTER_OPTIONS, KNOWN_PROVIDER_IDS } from '../../src/providers/index.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { keepSpareThreads } from '../../src/store/engine/sqlite/thread.ts';
import { createLog } from '../../src/telemetry/logs.ts';

export const API_KEY = 'test-normal-key-0123456789abcdef';
export const MANAGEMENT_KEY = 'test-management-key-0123456789abcdef';

export interface RunningGateway {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** `url` with the version segment. */
  readonly baseUrl: string;
  readonly dataDir: string;
  readonly app: App;
  /** POST with the normal key; `path` is below the base URL. */
  post(path: string, body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  close(): Promise<void>;
}

export interface GatewayOptions {
  /** The configuration file's text. */
  readonly yaml?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly bodyLimits?: AppOptions['bodyLimits'];
  readonly downloads?: AppOptions['downloads'];
  /** Default: discarded. */
  readonly log?: AppOptions['log'];
  /** Default: where only chance decides, the order of the configuration stands. */
  readonly random?: () => number;
  readonly serverTools?: AppOptions['serverTools'];
  readonly videoTimes?: AppOptions['videoTimes'];
  readonly notificationTickMs?: AppOptions['notificationTickMs'];
  readonly jobTimes?: AppOptions['jobTimes'];
  /** Default: a folder that is not there, so that no test builds the dashboard. */
  readonly dashboardFolder?: string;
}

const NO_DASHBOARD = join(tmpdir(), 'no-dashboard');

// Most tests start a gateway of their own, and half of what that takes is the start of its database's thread.
keepSpareThreads(4);

/** A gateway as its user would start it, on a free port, with a data directory of its own. */
export async function startGateway({
  yaml = '',
  env = {},
  bodyLimits = {},
  downloads,
  log = createLog('silent'),
  random = () => 0,
  serverTools = [],
  videoTimes,
  notificationTickMs,
  jobTimes,
  dashboardFolder = NO_DASHBOARD,
}: GatewayOptions = {}): Promise<RunningGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-'));
  const variables = { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY, ...env };
  const config = loadConfig({
    argv: ['--config', 'test.yaml', '--port', '0', '--data-dir', dataDir],
    env: variables,
    readFile: () => yaml,
    adapterIds: ADAPTER_IDS,
    adapterOptions: ADAPTER_OPTIONS,
    providerIds: KNOWN_PROVIDER_IDS,
  });
  if (config.databaseUrl === undefined)
    await copyFile(await (emptyDatabase ??= makeEmptyDatabase()), embeddedDatabaseOf(config));
  const app = await createApp({
    config,
    env: variables,
    log,
    bodyLimits,
    random,
    serverTools,
    dashboardFolder,
    ...(downloads !== undefined && { downloads }),
    ...(videoTimes !== undefined && { videoTimes }),
    ...(notificationTickMs !== undefined && { notificationTickMs }),
    ...(jobTimes !== undefined && { jobTimes }),
  });
  const { url } = await app.listen();
  const baseUrl = `${url}/v1`;
  return {
    url,
    baseUrl,
    dataDir,
    app,
    post: postTo(baseUrl),
    async close() {
      await app.close();
      // A row that the database took late may be on its way into a file as well.
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}

/** Up to date and without a row: the migrations take longer than all else that a gateway does at its start. */
let emptyDatabase: Promise<string> | undefined;

async function makeEmptyDatabase(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-empty-'));
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const path = embeddedDatabaseOf({ dataDir });
  const database = await openDatabase({ path, clock: systemClock });
  await database.close();
  return path;
}

/** Calls a gateway with the normal key. */
export function postTo(baseUrl: string): RunningGateway['post'] {
  return (path, body, headers = {}, signal) =>
    fetch(baseUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    });
}
