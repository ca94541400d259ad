import { createByokKeys, type ByokKeys } from '../accounts/byok/byok-keys.ts';
import { createCodeIssuers, type CodeIssuers } from '../accounts/keys/code-issuers.ts';
import type { Keys, StaticKeys } from '../accounts/keys/keys.ts';
import { createByokCredentials, type ByokCredentials } from '../accounts/byok/byok-credentials.ts';
import { createOauthCodes, type OauthCodes } from '../accounts/keys/oauth-codes.ts';
import { createPresets, type Presets } from '../accounts/presets.ts';
import { createSecrets, type Secrets } from '../accounts/byok/secrets.ts';
import type { Workspaces } from '../accounts/workspaces/workspaces.ts';
import type { PeopleArea } from './console/people.ts';
import type { ByokProviders } from './providers/byok-providers.ts';
import type { LiveCatalog } from './catalog/live-catalog.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { createByokUpstreams, type ByokUpstreams } from './providers/byok-upstreams.ts';
import type { Provider } from '../providers/contract.ts';
import { createByokKeyStore } from '../store/accounts/byok-keys.ts';
import type { Database } from '../store/engine/database.ts';
import { createAssignmentStore } from '../store/accounts/guardrail-assignments.ts';
import { createGuardrailStore } from '../store/accounts/guardrails.ts';
import type { KeyStore } from '../store/accounts/keys.ts';
import { createOauthCodeStore } from '../store/accounts/oauth-codes.ts';
import { createPresetStore } from '../store/accounts/presets.ts';
import type { Log } from '../telemetry/logs.ts';
import type { VaultArea } from './vault/vault-area.ts';
import type { InvalidationBus } from '../state/contract.ts';

/** What an account keeps beside its keys: credentials of its own, presets, codes for further keys. */
export interface AccountAreas {
  /** Encrypts everything that is stored encrypted. */
  readonly box: Secrets['box'];
  readonly byokCredentials: ByokCredentials;
  readonly byokUpstreams: ByokUpstreams;
  readonly issuers: CodeIssuers;
  /** What the routes work on. */
  readonly services: { readonly byok: ByokKeys; readonly presets: Presets; readonly oauth: OauthCodes };
}

const NO_SECRET =
  'GATEWAY_SECRET is not set: gateways that share this database cannot read what another one encrypted.';

interface AccountAreaParts {
  readonly config: Pick<Config, 'dataDir' | 'databaseUrl' | 'secret' | 'previousSecret' | 'oauth'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly database: Database;
  readonly keyStore: KeyStore;
  readonly keys: Keys;
  readonly staticKeys: StaticKeys;
  readonly workspaces: Pick<Workspaces, 'idOf'>;
  readonly peopleArea: PeopleArea | undefined;
  readonly clock: Clock;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly byok: Pick<ByokProviders, 'find'>;
  readonly live: Pick<LiveCatalog, 'catalog'>;
  /** There are credentials for these. */
  readonly takeIn: (providers: Iterable<string>) => Promise<void>;
  readonly invalidations: InvalidationBus;
  readonly log: Log;
  readonly vault: Pick<VaultArea, 'fillOf'>;
}

export function createAccountAreas(parts: AccountAreaParts): AccountAreas {
  const { config, database, keyStore, clock, byok, live, takeIn, invalidations, log, peopleArea } = parts;
  const workspaceOf = (named: string | undefined): Promise<string> => parts.workspaces.idOf(named);
  if (config.databaseUrl !== undefined && config.secret === undefined) log.general.warn(NO_SECRET);
  const secrets = createSecrets(config);
  const store = createByokKeyStore({ database, invalidations });
  const byokCredentials = createByokCredentials({
    store,
    secrets,
    clock,
    onRead: takeIn,
    slugOf: (model) => live.catalog.find(model)?.slug ?? model,
  });
  const byokUpstreams = createByokUpstreams({
    providers: parts.providers,
    findProvider: (name) => byok.find(name),
    credentials: byokCredentials,
    env: parts.env,
    fillOf: parts.vault.fillOf,
  });
  const issuers = createCodeIssuers({
    keys: keyStore,
    assignments: createAssignmentStore({ database }),
    guardrails: createGuardrailStore({ database }),
    staticKeys: parts.staticKeys,
    allowsNormalKeys: config.oauth.normalKeys,
    admitsUser: peopleArea && (async (id) => (await peopleArea.people.admit(id)) !== undefined),
    clock,
  });
  return {
    box: () => secrets.box(),
    byokCredentials,
    byokUpstreams,
    issuers,
    services: {
      byok: createByokKeys({
        store,
        keys: keyStore,
        secrets,
        clock,
        workspaceOf,
        describe: (provider, key, workspaceId) => byokUpstreams.describe(provider, key, workspaceId),
        onByok: (provider) => takeIn([provider]),
        slugOf: (provider) => byok.find(provider)?.settings.slug ?? provider,
      }),
      presets: createPresets({ store: createPresetStore({ database, invalidations }), clock }),
      oauth: createOauthCodes({
        store: createOauthCodeStore({ database }),
        keys: parts.keys,
        issuers,
        clock,
        workspaceOf,
      }),
    },
  };
}
