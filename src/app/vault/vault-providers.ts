import { namesVault, VaultError, type FillSecrets } from '../../canonical/vault-reference.ts';
import type { Config } from '../../config/config.ts';
import { CredentialError, type Provider } from '../../providers/contract.ts';
import { createProviders, type ProvidersSetup } from '../../providers/index.ts';

type Entry = Config['providers'][number];

/** The key of a provider among the texts that are filled; headers are there by their names, which have no space. */
const KEY = 'api key';

/**
 * Providers whose key or headers name secrets of the vault get them with each call. All others stay as they are.
 * @throws ProviderSetupError
 */
export function withVaultSecrets(
  providers: ReadonlyMap<string, Provider>,
  setup: ProvidersSetup,
  fill: FillSecrets,
): ReadonlyMap<string, Provider> {
  const filled = new Map(providers);
  for (const entry of setup.config) {
    const provider = providers.get(entry.slug);
    if (provider !== undefined && Object.keys(textsOf(entry)).length > 0)
      filled.set(entry.slug, withSecrets(provider, entry, setup, fill));
  }
  return filled;
}

function textsOf({ apiKey, headers }: Entry | ProvidersSetup['config'][number]): Readonly<Record<string, string>> {
  const named = Object.entries(headers).filter(([, text]) => namesVault(text));
  return Object.fromEntries(apiKey !== undefined && namesVault(apiKey) ? [[KEY, apiKey], ...named] : named);
}

function withSecrets(
  provider: Provider,
  entry: ProvidersSetup['config'][number],
  setup: ProvidersSetup,
  fill: FillSecrets,
): Provider {
  const texts = textsOf(entry);
  const names = new Set(Object.keys(texts).map((name) => name.toLowerCase()));
  const { settings } = provider;
  let secrets: readonly string[] = settings.secrets ?? [];
  let built: { readonly values: string; readonly provider: Provider } | undefined;

  /** The provider with the values of now: built anew only when one has changed. */
  function providerWith(filledTexts: Readonly<Record<string, string>>): Provider {
    const values = JSON.stringify(filledTexts);
    if (built?.values === values) return built.provider;
    const { [KEY]: apiKey = entry.apiKey, ...headers } = filledTexts;
    const config = [{ ...entry, ...(apiKey !== undefined && { apiKey }), headers: { ...entry.headers, ...headers } }];
    const made = createProviders({ ...setup, config }).get(entry.slug) ?? provider;
    built = { values, provider: made };
    return made;
  }

  return {
    ...provider,
    settings: {
      ...settings,
      headers: Object.fromEntries(Object.entries(settings.headers).filter(([name]) => !names.has(name.toLowerCase()))),
      /** What no error may repeat: the values that were sent last. */
      get secrets() {
        return secrets;
      },
    },
    async authorize(call) {
      try {
        const { texts: filledTexts, values } = await fill(texts, {
          url: call.url,
          caller: `provider:${entry.slug}`,
          keyHash: call.keyHash,
        });
        secrets = [...(settings.secrets ?? []), ...values];
        const made = providerWith(filledTexts);
        const own = Object.entries(made.settings.headers).filter(([name]) => names.has(name.toLowerCase()));
        const authorized = await made.authorize({ ...call, settings: made.settings });
        return { ...Object.fromEntries(own), ...authorized };
      } catch (error) {
        if (error instanceof VaultError) throw new CredentialError(error.message, { cause: error });
        throw error;
      }
    },
  };
}
