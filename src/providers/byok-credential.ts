import { buildProvider, isOwnHost, type BuildContext } from './build-provider.ts';
import { asSetupError, checkedKey, type ProviderSetupError } from './check-settings.ts';
import type { ByokCredential, ByokTo, Provider, ProviderSettings } from './contract.ts';

/** A provider called with a BYOK credential. */
export interface ByokProvider {
  readonly provider: Provider;
  /** By which its owner recognises the credential. Not masked. */
  readonly shown: string;
  /** Good for this model alone, by its slug. */
  readonly model?: string;
  /** The upstream's own name of that model there. */
  readonly upstreamModel?: string;
}

/**
 * The provider with another credential than the operator's, of which nothing is left.
 * @param text a key, or JSON where the provider takes more than a key
 * @returns several where the credential names several places; at least one
 * @throws ProviderSetupError that names the member of the credential and holds nothing of it
 */
export function bringCredential(base: Provider, text: string, env: BuildContext['env']): readonly ByokProvider[] {
  const { adapter, settings } = base;
  const headers = withoutCredentials(settings.headers);
  if (adapter.readCredential === undefined) {
    const apiKey = checkedKey('key', text);
    const { slug, name, baseUrl, timeouts } = settings;
    return [
      {
        provider: {
          ...base,
          settings: { slug, name, baseUrl, timeouts, headers, apiKey },
          authorize: adapter.authorize,
          isByok: true,
        },
        shown: apiKey,
      },
    ];
  }
  const isElsewhere = !isOwnHost(adapter, settings.baseUrl);
  const to = { env, ...(isElsewhere && { baseUrl: settings.baseUrl }) };
  return readCredential(base, text, to).map((byok) => connectByok(base, headers, byok));
}

function readCredential({ adapter }: Provider, text: string, to: ByokTo): readonly ByokCredential[] {
  try {
    return adapter.readCredential?.(text, to) ?? [];
  } catch (error) {
    throw asSetupError(error, (member) => member);
  }
}

/** Nothing of the environment: a key that is there must not stand in for the one that was brought. */
function connectByok(
  { adapter, settings, betaRules }: Provider,
  headers: ProviderSettings['headers'],
  { apiKey, baseUrl, options, ...byok }: ByokCredential,
): ByokProvider {
  const { slug, name, timeouts } = settings;
  const entry = {
    slug,
    adapter: adapter.id,
    name,
    headers,
    timeouts: {},
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(options !== undefined && { options }),
  };
  const provider = buildProvider(adapter, entry, { env: {}, timeouts, ownBaseUrl: undefined });
  return { ...byok, provider: { ...provider, isByok: true, ...(betaRules !== undefined && { betaRules }) } };
}

/** Headers that name us to a provider; others may be what it takes to reach a host of the operator's. */
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(['authorization', 'api-key', 'x-api-key', 'x-goog-api-key']);

function withoutCredentials(headers: ProviderSettings['headers']): ProviderSettings['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CREDENTIAL_HEADERS.has(name)));
}

/** The part of a credential that is for a model: its own, else the one for all others. */
export function byokFor(byok: readonly ByokProvider[], model: string): ByokProvider | undefined {
  return byok.find((one) => one.model === model) ?? byok.find((one) => one.model === undefined);
}

/** What is wrong with a credential, as a clause about its member `key`. */
export function problemOfCredential(error: ProviderSetupError): string {
  const at = error.message.indexOf(': ');
  const [member, problem] = [error.message.slice(0, at), error.message.slice(at + 2)];
  const [, within] = /^(?:providers\.[^.]*|key)\.(?:options\.)?(.+)$/.exec(member) ?? [];
  return within === undefined ? problem : `${within} ${problem}`;
}
