import { assert } from '../lib/assert.ts';
import { nearestName } from '../lib/text/nearest-name.ts';
import { anthropicAdapter } from './anthropic/adapter.ts';
import { createAzureAdapter } from './azure/adapter.ts';
import { baseUrlOfHost } from './base-url.ts';
import { createBetaTable, type BetaTable } from './beta-flags.ts';
import { bedrockAdapter } from './bedrock/adapter.ts';
import { buildProvider, isOwnHost, keyVariablesOf, rowOf, type ProviderEntry } from './build-provider.ts';
import { checkedBaseUrl, ProviderSetupError, textOf } from './check-settings.ts';
import { cohereAdapter } from './cohere/adapter.ts';
import { deepgramAdapter } from './deepgram/adapter.ts';
import { elevenLabsAdapter } from './elevenlabs/adapter.ts';
import type { AttemptTimeouts, Provider, ProviderAdapter } from './contract.ts';
import { createGoogleVertexAdapter } from './google-vertex/adapter.ts';
import { googleAdapter } from './google/adapter.ts';
import { vertexDialectOf } from './google/dialect.ts';
import type { KnownProvider } from './known-provider.ts';
import { KNOWN_PROVIDERS } from './known-providers.ts';
import { KIND_HOSTS } from './kind-hosts.ts';
import { MEDIA_HOSTS } from './media-hosts.ts';
import { messagesCompatibleAdapter } from './messages-compatible/adapter.ts';
import { optionsOf } from './provider-options.ts';
import { createOpenAiCompatibleAdapter, openAiCompatibleAdapter } from './openai-compatible/adapter.ts';
import { openAiAdapter } from './openai/adapter.ts';
import { sandboxAdapter } from './sandbox/adapter.ts';
import { stabilityAdapter } from './stability/adapter.ts';

/** Every kind of provider. A provider with quirks adds its folder and one line here; one without, a row of data. */
export const ADAPTERS = {
  'openai-compatible': openAiCompatibleAdapter,
  'messages-compatible': messagesCompatibleAdapter,
  openai: openAiAdapter,
  anthropic: anthropicAdapter,
  azure: createAzureAdapter({ openAi: openAiAdapter, claude: anthropicAdapter }),
  bedrock: bedrockAdapter,
  cohere: cohereAdapter,
  deepgram: deepgramAdapter,
  elevenlabs: elevenLabsAdapter,
  ...KIND_HOSTS,
  ...MEDIA_HOSTS,
  google: googleAdapter,
  'google-vertex': createGoogleVertexAdapter({
    gemini: { ...googleAdapter, dialect: ({ model }) => vertexDialectOf(model) },
    claude: anthropicAdapter,
  }),
  ...adaptersOfKnownProviders(),
  sandbox: sandboxAdapter,
  stability: stabilityAdapter,
} satisfies Readonly<Record<string, ProviderAdapter>>;

type AdaptersOfKnownProviders = Readonly<Record<(typeof KNOWN_PROVIDERS)[number]['id'], ProviderAdapter>>;

export type AdapterId = keyof typeof ADAPTERS;

/** What `adapter` may be in the operator's configuration. */
export const ADAPTER_IDS: readonly AdapterId[] = Object.keys(ADAPTERS).filter(isAdapterId);

/** What may stand under `options` of a provider, by the id of its adapter. */
export const ADAPTER_OPTIONS: Readonly<Record<string, AdapterOptions>> = Object.fromEntries(
  ADAPTER_IDS.flatMap((id) => {
    const { secretOptions = [] }: ProviderAdapter = ADAPTERS[id];
    const options = optionsOf(ADAPTERS[id]);
    return options === undefined ? [] : [[id, { shape: options.shape, secrets: secretOptions }] as const];
  }),
);

interface AdapterOptions {
  readonly shape: NonNullable<ProviderAdapter['options']>['shape'];
  readonly secrets: readonly string[];
}

/** Slugs that mean a provider without an entry in the configuration: those that know their own address. */
export const KNOWN_PROVIDER_IDS: readonly AdapterId[] = ADAPTER_IDS.filter(
  (id) => knowsItsAddress(ADAPTERS[id]) || id === sandboxAdapter.id,
);

export interface ProvidersSetup {
  readonly config: readonly ProviderEntry[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeouts: AttemptTimeouts;
  /** Slugs that endpoints name: a known provider among them is there without an entry, be it without a key. */
  readonly named?: ReadonlySet<string>;
  /** Where the gateway's own sandbox listens; absent: there is none. */
  readonly sandboxBaseUrl?: string;
  /** Absent: the table as it is shipped. */
  readonly betaTable?: BetaTable;
}

/**
 * All providers by slug: the configured ones, each known one whose environment variable is set or that an endpoint
 * names, and the sandbox. An entry of the configuration replaces the known provider of the same slug.
 * @throws ProviderSetupError
 */
export function createProviders(setup: ProvidersSetup): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>();
  for (const entry of setup.config) providers.set(entry.slug, configuredProvider(entry, setup));
  for (const id of KNOWN_PROVIDER_IDS) {
    if (providers.has(id)) continue;
    const provider = providerOfEnvironment(id, setup) ?? namedProvider(id, setup);
    if (provider !== undefined) providers.set(id, provider);
  }
  return withBetaRules(providers, setup.betaTable ?? createBetaTable());
}

/** What is wrong with the settings of one configured provider, whose adapter is known. @throws never */
export function findSetupError(
  entry: ProviderEntry,
  setup: Pick<ProvidersSetup, 'env' | 'timeouts' | 'sandboxBaseUrl'>,
): ProviderSetupError | undefined {
  try {
    configuredProvider(entry, { ...setup, config: [] });
    return undefined;
  } catch (error) {
    if (error instanceof ProviderSetupError) return error;
    throw error;
  }
}

function withBetaRules(providers: ReadonlyMap<string, Provider>, table: BetaTable): ReadonlyMap<string, Provider> {
  return new Map(
    [...providers].map(([slug, provider]) => {
      const requested = { slug, adapter: provider.adapter.id };
      return [slug, { ...provider, betaRules: () => table.rulesFor(requested) }];
    }),
  );
}

/**
 * The environment variables of which one must hold the provider's key; none when it has credentials, or may need none:
 * a host of the operator's own, or one that reads another header.
 */
export function missingKey({ adapter, settings, authorize }: Provider): readonly string[] {
  const { apiKey, baseUrl, headers } = settings;
  const hasCredential = apiKey !== undefined || authorize !== adapter.authorize;
  if (hasCredential || !isOwnHost(adapter, baseUrl)) return [];
  return Object.keys(headers).some((name) => CREDENTIAL_HEADER.test(name)) ? [] : keyVariablesOf(adapter);
}

/** What turns a known provider on in the environment; `undefined`: nothing there does. */
export function turnsOn(
  id: string,
): { readonly provider: string; readonly providerName: string; readonly turnedOnBy: string } | undefined {
  if (!isAdapterId(id) || !KNOWN_PROVIDER_IDS.includes(id)) return undefined;
  const adapter: ProviderAdapter = ADAPTERS[id];
  const host = rowOf(id)?.host;
  const variables = host === undefined ? keyVariablesOf(adapter) : [host.variable];
  const turnedOnBy = adapter.turnedOnBy?.join(' and ') ?? variables.join(' or ');
  return turnedOnBy === '' ? undefined : { provider: id, providerName: adapter.name, turnedOnBy };
}

/** `authorization`, `x-api-key`, `x-goog-api-key`, `cf-access-token`. */
const CREDENTIAL_HEADER = /auth|key|token/;

function adaptersOfKnownProviders(): AdaptersOfKnownProviders {
  const rows: readonly KnownProvider[] = KNOWN_PROVIDERS;
  const adapters: Readonly<Record<string, ProviderAdapter>> = Object.fromEntries(
    rows.map(({ apiKeyVariables: [apiKeyVariable], messagesPath, ...facts }) => [
      facts.id,
      createOpenAiCompatibleAdapter({
        ...facts,
        ...(apiKeyVariable !== undefined && { apiKeyVariable }),
        ...(messagesPath !== undefined && { messages: { basePath: messagesPath, like: messagesCompatibleAdapter } }),
      }),
    ]),
  );
  assert(coversKnownProviders(adapters), 'every row of the table became an adapter');
  return adapters;
}

function coversKnownProviders(
  adapters: Readonly<Record<string, ProviderAdapter>>,
): adapters is AdaptersOfKnownProviders {
  return KNOWN_PROVIDERS.every(({ id }) => Object.hasOwn(adapters, id));
}

function knowsItsAddress(adapter: ProviderAdapter): boolean {
  return adapter.baseUrl !== undefined || adapter.connect !== undefined;
}

function isAdapterId(id: string): id is AdapterId {
  return Object.hasOwn(ADAPTERS, id);
}

function configuredProvider(entry: ProviderEntry, setup: ProvidersSetup): Provider {
  if (!isAdapterId(entry.adapter)) {
    const nearest = nearestName(entry.adapter, ADAPTER_IDS);
    const hint = nearest === undefined ? `known are ${ADAPTER_IDS.join(', ')}` : `did you mean "${nearest}"?`;
    const problem = `unknown adapter ${JSON.stringify(entry.adapter)}; ${hint}`;
    throw new ProviderSetupError(`providers.${entry.slug}.adapter`, problem);
  }
  const adapter: ProviderAdapter = ADAPTERS[entry.adapter];
  const ownBaseUrl = adapter.id === sandboxAdapter.id ? setup.sandboxBaseUrl : adapter.baseUrl;
  return buildProvider(adapter, entry, { env: setup.env, timeouts: setup.timeouts, ownBaseUrl });
}

function providerOfEnvironment(id: AdapterId, setup: ProvidersSetup): Provider | undefined {
  const entry: ProviderEntry = { slug: id, adapter: id, headers: {}, timeouts: {} };
  if (id === sandboxAdapter.id)
    return setup.sandboxBaseUrl === undefined ? undefined : configuredProvider(entry, setup);
  const host = rowOf(id)?.host;
  const hostText = host === undefined ? undefined : textOf(setup.env, host.variable);
  if (host !== undefined && hostText !== undefined) {
    const baseUrl = checkedBaseUrl(host.variable, () => baseUrlOfHost(hostText, host.defaultPort));
    return configuredProvider({ ...entry, baseUrl }, setup);
  }
  return isTurnedOn(ADAPTERS[id], setup.env) ? configuredProvider(entry, setup) : undefined;
}

function isTurnedOn(adapter: ProviderAdapter, env: ProvidersSetup['env']): boolean {
  const { turnedOnBy } = adapter;
  if (turnedOnBy !== undefined) return turnedOnBy.every((name) => textOf(env, name) !== undefined);
  return keyVariablesOf(adapter).some((name) => textOf(env, name) !== undefined);
}

/** A local engine needs no key, and an unreviewed one is listed by its provider, which is better than nothing. */
function namedProvider(id: AdapterId, setup: ProvidersSetup): Provider | undefined {
  if (setup.named?.has(id) !== true || ADAPTERS[id].id === sandboxAdapter.id) return undefined;
  return configuredProvider({ slug: id, adapter: id, headers: {}, timeouts: {} }, setup);
}
