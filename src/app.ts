import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { createAuthenticator, type Authenticate } from './accounts/authenticate.ts';
import { createKeys, type FirstKeys, type StaticKeys } from './accounts/keys.ts';
import type { ProviderPreferences } from './canonical/directives.ts';
import type { ClientFormatId } from './canonical/extra.ts';
import { catalogFromConfig } from './catalog-from-config.ts';
import type { Config, ProviderDefaults } from './config/config.ts';
import type { DrawError } from './http/client-error.ts';
import { createCountTokensRoute } from './http/generation/count-tokens.ts';
import type { BodyLimits } from './http/generation/read-body.ts';
import { createGenerationRoute, type GenerationRouteParts, type RawHandler } from './http/generation/route.ts';
import { mountOperations } from './http/operations.ts';
import { registerManagementRoutes } from './http/management/route.ts';
import { MANAGEMENT_ROUTES } from './http/routes.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { systemClock, type Clock } from './lib/clock.ts';
import { createHttpClient, type HttpClient } from './lib/http-client.ts';
import { countTokens } from './pipeline/count-tokens.ts';
import { createGenerate, type GenerateParts } from './pipeline/generate.ts';
import { createSettle } from './pipeline/settle.ts';
import { pluginSchema } from './plugins/index.ts';
import { createProviders } from './providers/index.ts';
import { sandboxModels } from './providers/sandbox/models.ts';
import { startSandbox } from './providers/sandbox/server.ts';
import { createHealth } from './routing/health.ts';
import { openDatabase, type Database } from './store/database.ts';
import { createGenerationStore, type GenerationStore } from './store/generations.ts';
import { createKeyStore } from './store/keys.ts';
import { rowOf } from './telemetry/generation-row.ts';
import { createLog, logGeneration, type Log } from './telemetry/logs.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { createChatClientFormat, chatUpstreamFormat } from './wire/chat/format.ts';
import type { ClientFormat } from './wire/format.ts';
import { createMessagesClientFormat, messagesUpstreamFormat } from './wire/messages/format.ts';

export interface AppOptions {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log?: Log;
  /** Limits on a request body that the configuration does not name. */
  readonly bodyLimits?: Partial<BodyLimits>;
}

export interface App {
  /** @throws NodeJS.ErrnoException when the address cannot be listened on */
  listen(): Promise<{
    readonly url: string;
    /** The keys that the first start made. They cannot be shown again, so they are made once everything else stands. */
    readonly firstKeys?: FirstKeys;
  }>;
  /** Lets requests in flight finish within the drain limit, settles what is owed, and closes everything. */
  close(): Promise<void>;
  readonly generations: Pick<GenerationStore, 'find'>;
}

const BODY_IDLE_MS = 15_000;
const BODY_TOTAL_MS = 300_000;
/** A request does not wait longer than this for its record to reach the disk; the record itself waits on. */
const STORE_WAIT_MS = 2_000;

/** The composition root: builds each part and hands it its collaborators. Nothing is read from the environment below. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, env } = options;
  const log = options.log ?? createLog(config.logLevel);
  const clock = systemClock;
  const metrics = createMetrics();
  const staticKeys = staticKeysFrom(config);
  const database = await openDatabase({ path: join(config.dataDir, 'gateway.db'), clock });
  const keyStore = createKeyStore({ database });
  const keys = createKeys({ store: keyStore, clock });
  const generations = openGenerations(database, metrics, log);
  const authenticate = createAuthenticator({ keys: keyStore, clock, staticKeys });
  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  const http = createHttpClient();
  let url = '';
  const shared: Shared = { config, env, clock, http, metrics, log, baseUrl: () => `${url}/v1` };
  const formats: ClientFormats = {
    chat: createChatClientFormat({ plugin: pluginSchema }),
    messages: createMessagesClientFormat({ plugin: pluginSchema }),
  };
  const server: HttpServer = createHttpServer({
    host: config.server.host,
    port: config.server.port,
    onBug: (error) => log.general.error({ err: error }, 'bug'),
    drawError: drawErrorIn(formats, shared.baseUrl),
    generation: generationRoutes(
      shared,
      formats,
      createGenerateParts(shared, sandbox.baseUrl, generations),
      authenticate,
      {
        draining: () => server.draining,
        bodyLimits: options.bodyLimits,
      },
    ),
    mount(fastify) {
      const ready = (): Promise<void> => database.ping();
      mountOperations(fastify, {
        metrics,
        ready,
        draining: () => server.draining,
        openApi: drawOpenApi,
        log: log.general,
      });
      registerManagementRoutes(fastify, MANAGEMENT_ROUTES, {
        authenticate,
        services: { keys, generations },
        log: log.general,
      });
    },
  });
  return {
    generations,
    async listen() {
      const { address, port } = await server.listen();
      url = `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
      const firstKeys = await keys.bootstrap(staticKeys);
      return { url, ...(firstKeys !== undefined && { firstKeys }) };
    },
    async close() {
      await server.close(config.server.drainMs);
      await generations.close();
      await Promise.all([http.close(), sandbox.close()]);
      await database.close();
      log.flush();
    },
  };
}

function openGenerations(database: Database, metrics: Metrics, log: Log): GenerationStore {
  return createGenerationStore({
    database,
    onLost: (row, error) => {
      metrics.recordLost();
      // The last place where the row can be kept.
      log.general.error({ row, error: error.message }, 'generation record lost');
    },
  });
}

type ClientFormats = Readonly<Record<ClientFormatId, ClientFormat>>;

/** For what is refused before a route was found: the path tells in whose shape. */
function drawErrorIn({ chat, messages }: ClientFormats, baseUrl: () => string): DrawError {
  return (error, path) =>
    (path.includes('/messages') ? messages : chat).encodeError(error, {
      generationId: null,
      serviceMetadata: undefined,
      baseUrl: baseUrl(),
    });
}

/** What most parts need. */
interface Shared {
  readonly config: Config;
  readonly env: AppOptions['env'];
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly baseUrl: () => string;
}

function createGenerateParts(
  { config, env, clock, http, metrics, log, baseUrl }: Shared,
  sandboxBaseUrl: string,
  generations: GenerationStore,
): GenerateParts {
  const { region } = config.server;
  const providers = createProviders({ config: config.providers, env, timeouts: config.timeouts, sandboxBaseUrl });
  return {
    http,
    formats: { chat: chatUpstreamFormat, messages: messagesUpstreamFormat },
    providers,
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    health: createHealth({ clock }),
    catalog: catalogFromConfig(config, providers, sandboxModels()),
    clock,
    settle: createSettle({
      store: (record) => withinLimit(generations.append(rowOf(record, region)), STORE_WAIT_MS),
      observe(record) {
        metrics.observe(record);
        logGeneration(log, record);
      },
    }),
    defaults: {
      ...(config.defaults.model !== undefined && { model: config.defaults.model }),
      provider: preferencesFrom(config.defaults.provider),
    },
    totalMs: config.timeouts.totalMs,
    region,
    baseUrl,
    streams: metrics,
    onBug: (error, id) => log.general.error({ err: error, id }, 'bug'),
  };
}

function generationRoutes(
  { config, clock, metrics, baseUrl }: Shared,
  { chat, messages }: ClientFormats,
  generateParts: GenerateParts,
  authenticate: Authenticate,
  limits: { readonly draining: () => boolean; readonly bodyLimits: Partial<BodyLimits> | undefined },
): Readonly<Record<string, RawHandler>> {
  const parts: GenerationRouteParts = {
    authenticate,
    generate: createGenerate(generateParts),
    clock,
    bodyLimits: {
      bytesMax: config.server.maxBodyBytes,
      idleMs: BODY_IDLE_MS,
      totalMs: BODY_TOTAL_MS,
      ...limits.bodyLimits,
    },
    allowApiKeyHeader: false,
    baseUrl,
    draining: limits.draining,
    onRefused: (error, format) => metrics.refused(format, error.status),
    onBug: generateParts.onBug,
  };
  const messagesParts = { ...parts, allowApiKeyHeader: true };
  return {
    '/chat/completions': createGenerationRoute(chat, parts),
    '/messages': createGenerationRoute(messages, messagesParts),
    '/messages/count_tokens': createCountTokensRoute(messages, messagesParts, (request, signal) =>
      countTokens(generateParts, request, signal),
    ),
  };
}

/** Loaded when it is asked for: it needs every schema of the answers, which nothing else does. */
async function drawOpenApi(): Promise<object> {
  const { openApiDocument } = await import('./openapi-document.ts');
  return openApiDocument();
}

function staticKeysFrom({ managementKey, apiKey }: Config): StaticKeys {
  return {
    ...(managementKey !== undefined && { management: managementKey }),
    ...(apiKey !== undefined && { normal: apiKey }),
  };
}

function preferencesFrom(defaults: ProviderDefaults): Partial<ProviderPreferences> {
  const { order, only, ignore, dataCollection, zdr } = defaults;
  return {
    ...(order !== undefined && { order }),
    ...(only !== undefined && { only }),
    ...(ignore !== undefined && { ignore }),
    ...(dataCollection !== undefined && { dataCollection }),
    ...(zdr !== undefined && { zdr }),
  };
}

/** Settles with the promise, or when its time is over, whichever comes first. */
function withinLimit(promise: Promise<void>, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, limitMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
