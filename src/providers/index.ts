import { validateHeaderName, validateHeaderValue } from 'node:http';
import { assert } from '../lib/assert.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { anthropicAdapter } from './anthropic/adapter.ts';
import { baseUrlOfHost, normaliseBaseUrl } from './base-url.ts';
import type { AttemptTimeouts, Provider, ProviderAdapter } from './contract.ts';
import { KNOWN_PROVIDERS, type KnownProvider } from './known-providers.ts';
import { messagesCompatibleAdapter } from './messages-compatible/adapter.ts';
import { createOpenAiCompatibleAdapter, openAiCompatibleAdapter } from './openai-compatible/adapter.ts';
import { openAiAdapter } from './openai/adapter.ts';
import { sandboxAdapter } from './sandbox/adapter.ts';

/** Every kind of provider. A provider with quirks adds its folder and one line here; one without, a row of data. */
export const ADAPTERS = {
  'openai-compatible': openAiCompatibleAdapter,
  'messages-compatible': messagesCompatibleAdapter,
  openai: openAiAdapter,
  anthropic: anthropicAdapter,
  ...adaptersOfKnownProviders(),
  sandbox: sandboxAdapter,
} satisfies Readonly<Record<string, ProviderAdapter>>;

type AdaptersOfKnownProviders = Readonly<Record<(typeof KNOWN_PROVIDERS)[number]['id'], ProviderAdapter>>;

export type AdapterId = keyof typeof ADAPTERS;

/** What `adapter` may be in the operator's configuration. */
export const ADAPTER_IDS: readonly AdapterId[] = Object.keys(ADAPTERS).filter(isAdapterId);

/** Slugs that mean a provider without an entry in the configuration: those that know their own address. */
export const KNOWN_PROVIDER_IDS: readonly AdapterId[] = ADAPTER_IDS.filter(
  (id) => ADAPTERS[id].baseUrl !== undefined || id === sandboxAdapter.id,
);

/** One provider as the operator's configuration has it. */
export interface ProviderEntry {
  readonly slug: string;
  readonly adapter: string;
  readonly name?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Overrides of the general ones. */
  readonly timeouts: Partial<AttemptTimeouts>;
}

export interface ProvidersSetup {
  readonly config: readonly ProviderEntry[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeouts: AttemptTimeouts;
  /** Where the gateway's own sandbox listens; absent: there is none. */
  readonly sandboxBaseUrl?: string;
}

/** A provider that cannot be set up. The message names the setting, says what is wrong and never holds a secret. */
export class ProviderSetupError extends Error {
  constructor(setting: string, problem: string, options?: ErrorOptions) {
    super(`${setting}: ${problem}`, options);
    this.name = 'ProviderSetupError';
  }
}

/**
 * All providers by slug: the configured ones, each known one whose environment variable is set, and the sandbox. An
 * entry of the configuration replaces the known provider of the same slug.
 * @throws ProviderSetupError
 */
export function createProviders(setup: ProvidersSetup): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>();
  for (const entry of setup.config) providers.set(entry.slug, configuredProvider(entry, setup));
  for (const id of KNOWN_PROVIDER_IDS) {
    const provider = providers.has(id) ? undefined : providerOfEnvironment(id, setup);
    if (provider !== undefined) providers.set(id, provider);
  }
  return providers;
}

function adaptersOfKnownProviders(): AdaptersOfKnownProviders {
  const rows: readonly KnownProvider[] = KNOWN_PROVIDERS;
  const adapters: Readonly<Record<string, ProviderAdapter>> = Object.fromEntries(
    rows.map(({ apiKeyVariables: [apiKeyVariable], ...facts }) => [
      facts.id,
      createOpenAiCompatibleAdapter({ ...facts, ...(apiKeyVariable !== undefined && { apiKeyVariable }) }),
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

function isAdapterId(id: string): id is AdapterId {
  return Object.hasOwn(ADAPTERS, id);
}

function configuredProvider(entry: ProviderEntry, setup: ProvidersSetup): Provider {
  const at = (member: string): string => `providers.${entry.slug}.${member}`;
  if (!isAdapterId(entry.adapter)) {
    const nearest = nearestName(entry.adapter, ADAPTER_IDS);
    const hint = nearest === undefined ? `known are ${ADAPTER_IDS.join(', ')}` : `did you mean "${nearest}"?`;
    throw new ProviderSetupError(at('adapter'), `unknown adapter ${JSON.stringify(entry.adapter)}; ${hint}`);
  }
  const adapter: ProviderAdapter = ADAPTERS[entry.adapter];
  const ownBaseUrl = adapter.id === sandboxAdapter.id ? setup.sandboxBaseUrl : adapter.baseUrl;
  const given = entry.baseUrl ?? ownBaseUrl;
  if (given === undefined) throw new ProviderSetupError(at('base_url'), `is required for the adapter ${adapter.id}`);
  const baseUrl = checkedBaseUrl(at('base_url'), () => normaliseBaseUrl(given, ownBaseUrl));
  const apiKey = entry.apiKey ?? keyForOwnHost(adapter, baseUrl, setup.env);
  return {
    adapter,
    settings: {
      slug: entry.slug,
      name: entry.name ?? adapter.name,
      baseUrl,
      ...(apiKey !== undefined && { apiKey: checkedKey(at('api_key'), apiKey) }),
      headers: checkedHeaders(at('headers'), entry.headers),
      timeouts: mergedTimeouts(setup.timeouts, entry.timeouts),
    },
  };
}

function providerOfEnvironment(id: AdapterId, setup: ProvidersSetup): Provider | undefined {
  const { env, sandboxBaseUrl, timeouts } = setup;
  const adapter: ProviderAdapter = ADAPTERS[id];
  const common = { slug: id, name: adapter.name, headers: {}, timeouts: mergedTimeouts(timeouts, {}) };
  if (id === sandboxAdapter.id) {
    if (sandboxBaseUrl === undefined) return undefined;
    return { adapter, settings: { ...common, baseUrl: normaliseBaseUrl(sandboxBaseUrl) } };
  }
  const host = rowOf(id)?.host;
  const hostText = host === undefined ? undefined : textOf(env, host.variable);
  if (host !== undefined && hostText !== undefined) {
    const baseUrl = checkedBaseUrl(host.variable, () => baseUrlOfHost(hostText, host.defaultPort));
    return { adapter, settings: { ...common, baseUrl } };
  }
  const variable = keyVariablesOf(adapter).find((name) => textOf(env, name) !== undefined);
  if (variable === undefined || adapter.baseUrl === undefined) return undefined;
  const apiKey = checkedKey(variable, textOf(env, variable) ?? '');
  return { adapter, settings: { ...common, baseUrl: adapter.baseUrl, apiKey } };
}

/** The environment's key, but only toward the host that it belongs to: never to an address of the operator's choice. */
function keyForOwnHost(adapter: ProviderAdapter, baseUrl: string, env: ProvidersSetup['env']): string | undefined {
  if (adapter.baseUrl === undefined || new URL(adapter.baseUrl).origin !== new URL(baseUrl).origin) return undefined;
  for (const name of keyVariablesOf(adapter)) {
    const key = textOf(env, name);
    if (key !== undefined) return key;
  }
  return undefined;
}

function keyVariablesOf(adapter: ProviderAdapter): readonly string[] {
  const variables = rowOf(adapter.id)?.apiKeyVariables;
  if (variables !== undefined) return variables;
  return adapter.apiKeyVariable === undefined ? [] : [adapter.apiKeyVariable];
}

function rowOf(id: string): KnownProvider | undefined {
  const rows: readonly KnownProvider[] = KNOWN_PROVIDERS;
  return rows.find((row) => row.id === id);
}

/** A variable that is set to nothing counts as not set, as in shells and container files. */
function textOf(env: ProvidersSetup['env'], name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

function checkedBaseUrl(setting: string, normalise: () => string): string {
  try {
    return normalise();
  } catch (error) {
    if (error instanceof RangeError) throw new ProviderSetupError(setting, error.message, { cause: error });
    throw error;
  }
}

/** A key travels in a header, so one with a line break or a letter beyond ASCII would fail every request later. */
function checkedKey(setting: string, key: string): string {
  const trimmed = key.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw new ProviderSetupError(setting, 'must be printable ASCII without spaces');
  return trimmed;
}

/** Lower-case names, so that none can stand beside the same name of an adapter. */
function checkedHeaders(setting: string, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const checked: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch (error) {
      throw new ProviderSetupError(`${setting}.${name}`, 'is no valid HTTP header', { cause: error });
    }
    checked[name.toLowerCase()] = value;
  }
  return checked;
}

function mergedTimeouts(general: AttemptTimeouts, own: Partial<AttemptTimeouts>): AttemptTimeouts {
  return {
    connectMs: own.connectMs ?? general.connectMs,
    headersMs: own.headersMs ?? general.headersMs,
    firstTokenMs: own.firstTokenMs ?? general.firstTokenMs,
    idleMs: own.idleMs ?? general.idleMs,
    wholeMs: own.wholeMs ?? general.wholeMs,
  };
}
