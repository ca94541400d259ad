import { createByokKeys, type ByokKeys } from '../accounts/byok-keys.ts';
import { createCodeIssuers } from '../accounts/code-issuers.ts';
import type { Keys, StaticKeys } from '../accounts/keys.ts';
import { createOwnCredentials, type OwnCredentials } from '../accounts/own-credentials.ts';
import { createOauthCodes, type OauthCodes } from '../accounts/oauth-codes.ts';
import { createPresets, type Presets } from '../accounts/presets.ts';
import { createSecrets, type Secrets } from '../accounts/secrets.ts';
import type { Workspaces } from '../accounts/workspaces.ts';
import type { BroughtProviders } from './brought-providers.ts';
import type { LiveCatalog } from './live-catalog.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { createOwnUpstreams, type OwnUpstreams } from './own-upstreams.ts';
import type { Provider } from '../providers/contract.ts';
import { createByokKeyStore } from '../store/byok-keys.ts';
import type { Database } from '../store/database.ts';
import { createAssignmentStore } from '../store/guardrail-assignments.ts';
import { createGuardrailStore } from '../store/guardrails.ts';
import type { KeyStore } from '../store/keys.ts';
import { createOauthCodeStore } from '../store/oauth-codes.ts';
import { createPresetStore } from '../store/presets.ts';
import type { Log } from '../telemetry/logs.ts';
import type { News } from '../store/shared/contract.ts';

/** What an account keeps beside its keys: credentials of its own, presets, codes for further keys. */
export interface AccountAreas {
  /** What everything that is stored encrypted is sealed with. */
  readonly box: Secrets['box'];
  readonly ownCredentials: OwnCredentials;
  readonly ownUpstreams: OwnUpstreams;
  /** What the routes work on. */
  readonly services: { readonly byok: ByokKeys; readonly presets: Presets; readonly oauth: OauthCodes };
}

const NO_SECRET =
  'GATEWAY_SECRET is not set: gateways that share this database cannot read what another one encrypted.';

export function createAccountAreas(parts: {
  readonly config: Pick<Config, 'dataDir' | 'databaseUrl' | 'secret' | 'previousSecret'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly database: Database;
  readonly keyStore: KeyStore;
  readonly keys: Keys;
  readonly staticKeys: StaticKeys;
  readonly workspaces: Pick<Workspaces, 'idOf'>;
  readonly clock: Clock;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly brought: Pick<BroughtProviders, 'find'>;
  readonly live: Pick<LiveCatalog, 'catalog'>;
  /** There are credentials for these. */
  readonly takeIn: (providers: Iterable<string>) => Promise<void>;
  readonly news: News;
  readonly log: Log;
}): AccountAreas {
  const { config, env, database, keyStore, keys, workspaces, clock, providers, brought, live, takeIn, news, log } =
    parts;
  const workspaceOf = (named: string | undefined): Promise<string> => workspaces.idOf(named);
  if (config.databaseUrl !== undefined && config.secret === undefined) log.general.warn(NO_SECRET);
  const secrets = createSecrets(config);
  const store = createByokKeyStore({ database, news });
  const ownCredentials = createOwnCredentials({
    store,
    secrets,
    clock,
    onRead: takeIn,
    slugOf: (model) => live.catalog.find(model)?.slug ?? model,
  });
  const ownUpstreams = createOwnUpstreams({
    providers,
    findProvider: (name) => brought.find(name),
    credentials: ownCredentials,
    env,
  });
  const issuers = createCodeIssuers({
    keys: keyStore,
    assignments: createAssignmentStore({ database }),
    guardrails: createGuardrailStore({ database }),
    staticKeys: parts.staticKeys,
    clock,
  });
  return {
    box: () => secrets.box(),
    ownCredentials,
    ownUpstreams,
    services: {
      byok: createByokKeys({
        store,
        keys: keyStore,
        secrets,
        clock,
        workspaceOf,
        describe: (provider, key) => ownUpstreams.describe(provider, key),
        onBrought: (provider) => takeIn([provider]),
        slugOf: (provider) => brought.find(provider)?.settings.slug ?? provider,
      }),
      presets: createPresets({ store: createPresetStore({ database, news }), clock }),
      oauth: createOauthCodes({ store: createOauthCodeStore({ database }), keys, issuers, clock, workspaceOf }),
    },
  };
}
