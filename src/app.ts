import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { createAuthenticator } from './accounts/authenticate.ts';
import { createKeys, type FirstKeys, type StaticKeys } from './accounts/keys.ts';
import type { ProviderPreferences } from './canonical/directives.ts';
import { catalogFromConfig } from './catalog-from-config.ts';
import type { Config, ProviderDefaults } from './config/config.ts';
import { createCountTokensRoute } from './http/generation/count-tokens.ts';
import type { BodyLimits } from './http/generation/read-body.ts';
import { createGenerationRoute, type GenerationRouteParts } from './http/generation/route.ts';
import { mountOperations } from './http/operations.ts';
import { registerManagementRoutes } from './http/management/route.ts';
import { MANAGEMENT_ROUTES } from './http/routes.ts';
import { createHttpServer } from './http/server.ts';
import { systemClock } from './lib/clock.ts';
import { createHttpClient } from './lib/http-client.ts';
import { openApiDocument } from './openapi-document.ts';
import { countTokens } from './pipeline/count-tokens.ts';
import { createGenerate, type GenerateParts } from './pipeline/generate.ts';
import { createSettle } from './pipeline/settle.ts';
import { pluginSchema } from './plugins/index.ts';
import { createProviders } from './providers/index.ts';
import { sandboxModels } from './providers/sandbox/models.ts';
import { startSandbox } from './providers/sandbox/server.ts';
import { createHealth } from './routing/health.ts';
import { openDatabase } from './store/database.ts';
import { createGenerationStore, type GenerationStore } from './store/generations.ts';
import { createKeyStore } from './store/keys.ts';
import { rowOf } from './telemetry/generation-row.ts';
import { createLogger, logGeneration, type Logger } from './telemetry/logs.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { createChatClientFormat, chatUpstreamFormat } from './wire/chat/format.ts';
import { FORMAT_PARAMETERS } from './wire/format-parameters.ts';
import { createMessagesClientFormat, messagesUpstreamFormat } from './wire/messages/format.ts';

export interface AppOptions {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log?: Logger;
  /** Limits on a request body that the configuration does not name. */
  readonly bodyLimits?: Partial<BodyLimits>;
}

export interface App {
  /** @throws NodeJS.ErrnoException when the address cannot be listened on */
  listen(): Promise<{ readonly url: string }>;
  /** Lets requests in flight finish within the drain limit, settles what is owed, and closes everything. */
  close(): Promise<void>;
  /** The keys that this start made; shown once. */
  readonly firstStart?: FirstKeys;
  readonly generations: Pick<GenerationStore, 'find'>;
}

const BODY_IDLE_MS = 15_000;
const BODY_TOTAL_MS = 300_000;
/** A request does not wait longer than this for its record to reach the disk; the record itself waits on. */
const STORE_WAIT_MS = 2_000;

/** The composition root: builds each part and hands it its collaborators. Nothing is read from the environment below. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, env } = options;
  const log = options.log ?? createLogger(config.logLevel);
  const clock = systemClock;
  const metrics = createMetrics();
  const staticKeys: StaticKeys = {
    ...(config.managementKey !== undefined && { management: config.managementKey }),
    ...(config.apiKey !== undefined && { normal: config.apiKey }),
  };
  const database = await openDatabase({ path: join(config.dataDir, 'gateway.db'), clock });
  const keyStore = createKeyStore({ database });
  const keys = createKeys({ store: keyStore, clock });
  const authenticate = createAuthenticator({ keys: keyStore, clock, staticKeys });
  const generations = createGenerationStore({
    database,
    onLost: (row, error) => {
      metrics.recordLost();
      // The last place where the row can be kept.
      log.error({ row, error: error.message }, 'generation record lost');
    },
  });
  const firstStart = await keys.bootstrap(staticKeys);

  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  const providers = createProviders({
    config: config.providers,
    env,
    timeouts: config.timeouts,
    sandboxBaseUrl: sandbox.baseUrl,
  });
  const catalog = catalogFromConfig(config, providers, sandboxModels());
  const http = createHttpClient();
  let url = '';
  const baseUrl = (): string => `${url}/v1`;
  const onBug = (error: unknown, id: string): void => log.error({ err: error, id }, 'bug');
  const observe = (record: Parameters<typeof logGeneration>[1]): void => {
    metrics.observe(record);
    logGeneration(log, record);
  };
  const generateParts: GenerateParts = {
    http,
    formats: { chat: chatUpstreamFormat, messages: messagesUpstreamFormat },
    providers,
    nowMs: clock.nowMs,
    monotonicMs: clock.monotonicMs,
    health: createHealth({ clock }),
    catalog,
    clock,
    settle: createSettle({
      store: (record) => withinLimit(generations.append(rowOf(record, config.server.region)), STORE_WAIT_MS),
      observe,
      region: config.server.region,
    }),
    defaults: {
      ...(config.defaults.model !== undefined && { model: config.defaults.model }),
      provider: preferencesFrom(config.defaults.provider),
    },
    formatParameters: FORMAT_PARAMETERS,
    totalMs: config.timeouts.totalMs,
    region: config.server.region,
    baseUrl,
    streams: metrics,
    onBug,
  };

  const chat = createChatClientFormat({ plugin: pluginSchema });
  const messages = createMessagesClientFormat({ plugin: pluginSchema });
  const routeParts: Omit<GenerationRouteParts, 'allowApiKeyHeader'> = {
    authenticate,
    generate: createGenerate(generateParts),
    clock,
    bodyLimits: {
      bytesMax: config.server.maxBodyBytes,
      idleMs: BODY_IDLE_MS,
      totalMs: BODY_TOTAL_MS,
      ...options.bodyLimits,
    },
    baseUrl,
    draining: () => server.draining,
    onRefused: (error, format) => metrics.refused(format, error.status),
    onBug,
  };
  const messagesParts = { ...routeParts, allowApiKeyHeader: true };
  const server = createHttpServer({
    host: config.server.host,
    port: config.server.port,
    generation: {
      '/chat/completions': createGenerationRoute(chat, { ...routeParts, allowApiKeyHeader: false }),
      '/messages': createGenerationRoute(messages, messagesParts),
      '/messages/count_tokens': createCountTokensRoute(messages, messagesParts, (request, signal) =>
        countTokens(generateParts, request, signal),
      ),
    },
    mount(fastify) {
      mountOperations(fastify, {
        metrics,
        ready: () => database.ping(),
        draining: () => server.draining,
        openApi: openApiDocument,
        log,
      });
      registerManagementRoutes(fastify, MANAGEMENT_ROUTES, {
        authenticate,
        services: { keys, generations },
        log,
      });
    },
  });

  return {
    ...(firstStart !== undefined && { firstStart }),
    generations,
    async listen() {
      const { address, port } = await server.listen();
      url = `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
      return { url };
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
