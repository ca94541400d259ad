import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createConsoleKeys, type ConsoleKeys } from '../../accounts/console/console-keys.ts';
import { createConsoleLinks, type ConsoleLinks } from '../../accounts/console/links.ts';
import { createConsoleSessions, type ConsoleSessions } from '../../accounts/console/sessions.ts';
import { createSignInLimit } from '../../accounts/console/sign-in-limit.ts';
import type { ConnectionServices, SignInWays } from '../../http/console/console-route.ts';
import type { ConsoleListener } from '../../http/console/console.ts';
import { createConsoleCallers, type ConsoleCallers } from '../../http/console/callers.ts';
import type { ServerOptions } from '../../http/server.ts';
import { createProxiedFetch } from '../../lib/net/proxy/proxied-fetch.ts';
import { createProxyOf } from '../../lib/net/proxy/proxies.ts';
import { createConsoleLinkStore } from '../../store/accounts/console-links.ts';
import { createConsoleSessionStore } from '../../store/accounts/console-sessions.ts';
import type { Foundation, GatewayOptions } from '../foundation.ts';
import { generationRoutes, type GenerationLimits } from '../model-routes/generation-routes.ts';
import type { Parts } from '../parts.ts';
import { createUserSignIn } from './people.ts';
import { readVersion } from '../version.ts';

/** The dashboard, in the process that serves what is no generation. */
export interface ConsoleArea {
  readonly callers: ConsoleCallers;
  readonly links: ConsoleLinks;
  listener(own: Pick<GenerationLimits, 'unread' | 'draining'>): ServerOptions['console'];
}

export function createConsoleArea(
  options: GatewayOptions,
  foundation: Foundation,
  parts: Parts,
  connections: ConnectionServices | undefined,
): ConsoleArea {
  const { shared, accounts, storage } = foundation;
  const { clock, config, state } = shared;
  const { database } = storage;
  const { administration, areas } = parts;
  const links = createConsoleLinks({ store: createConsoleLinkStore({ database }), clock });
  const callers = createConsoleCallers();
  const { audit, workspaces, peopleArea } = administration;
  const onFailed = (error: Error): void => shared.log.general.warn({ err: error }, 'identity provider');
  const proxyOf = createProxyOf(config.proxies);
  const fetch = proxyOf && createProxiedFetch(proxyOf);
  const signIn = peopleArea && createUserSignIn(config.organization, peopleArea, areas.box, { onFailed, fetch });
  const sessions = createConsoleSessions({
    store: createConsoleSessionStore({ database }),
    links,
    admitKey: accounts.admitKey,
    users: signIn?.users,
    limit: createSignInLimit({
      rateLimitState: state.rateLimitState,
      clock,
      onRefused: (address) =>
        audit.record({ actor: { address }, action: 'signInRefused', subject: '/sessions', changes: {} }),
    }),
    audit,
    clock,
  });
  const keys = createConsoleKeys({
    keys: accounts.keys,
    admitKey: accounts.admitKey,
    workspaceOf: (named) => workspaces.idOf(named),
  });
  return {
    callers,
    links,
    listener(own) {
      if (!config.console.enabled) return undefined;
      let loaded: Promise<ConsoleListener> | undefined;
      return async (request, response, next) => {
        loaded ??= loadListener(options, foundation, parts, {
          sessions,
          keys,
          callers,
          own,
          connections,
          ways: signIn?.ways,
        });
        return (await loaded)(request, response, next);
      };
    },
  };
}

/** The newest keys of a user, whose rows it sees live. */
const KEYS_OF_USER_MAX = 1_000;
/** The sources of the dashboard, and what is built of them. */
const FOLDER = fileURLToPath(new URL('../../../dashboard', import.meta.url));

interface ConsoleParts {
  readonly sessions: ConsoleSessions;
  readonly keys: ConsoleKeys;
  readonly callers: ConsoleCallers;
  readonly own: Pick<GenerationLimits, 'unread' | 'draining'>;
  readonly connections: ConnectionServices | undefined;
  readonly ways: SignInWays | undefined;
}

/** With the first request of a browser: a start does without. */
async function loadListener(
  { bodyLimits, dashboardFolder: folder = FOLDER }: GatewayOptions,
  { shared, accounts }: Foundation,
  { formats, generateDeps, areas, responseArea, videoArea, observability }: Parts,
  { sessions, keys, callers, own, connections, ways }: ConsoleParts,
): Promise<ConsoleListener> {
  const [{ createConsole }, { createPages }, { createAssetReader }, { createBuilder }, { createWhatIf }] =
    await Promise.all([
      import('../../http/console/console.ts'),
      import('../../http/console/pages.ts'),
      import('../../http/console/assets.ts'),
      import('../../http/console/builder.ts'),
      import('../../http/console/what-if.ts'),
    ]);
  const { config, log, bodies } = shared;
  return createConsole({
    rules: config.console,
    isForwarded: config.server.workers > 1,
    services: {
      sessions,
      organization: ways,
      connections,
      plainHttp: config.console.plainHttp,
      version: readVersion(),
    },
    keys,
    callers,
    generation: generationRoutes(
      shared,
      formats,
      generateDeps,
      callers.generating,
      areas.services.presets,
      {
        ...own,
        bodyLimits,
        kept: responseArea.storedResponses,
        runVideo: videoArea.videos.run,
      },
      createWhatIf(callers, accounts.admitKey),
    ),
    bodies,
    keysOf: async (creatorUserId) => {
      const filter = { includeDisabled: true, creatorUserId, offset: 0, limit: KEYS_OF_USER_MAX };
      return (await accounts.keyStore.list(filter)).map(({ hash }) => hash);
    },
    live: { hub: observability.hub, epoch: randomUUID(), draining: own.draining },
    pages: createPages({
      assets: createAssetReader(join(folder, 'dist')),
      builder: createBuilder({
        folder,
        monotonicMs: shared.clock.monotonicMs,
        draining: own.draining,
        onFailed: (error) => log.general.warn({ err: error }, 'the dashboard could not be built'),
      }),
    }),
    onPolicyReport: () => shared.metrics.policyReported(),
    log: log.general,
  });
}
