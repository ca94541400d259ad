import { namesVault, parseVaultTemplate, VaultReferenceError } from '../../canonical/vault-reference.ts';
import type { Config } from '../../config/config.ts';

/** Where the configuration names secrets. */
export type ReferringConfig = Pick<Config, 'providers' | 'mcpServers' | 'search' | 'webFetch' | 'notifications'>;

/** A place of the configuration that names secrets of the vault. */
export interface VaultReference {
  /** `providers.alpha.api_key`. */
  readonly path: string;
  readonly text: string;
  /** Where it is sent. Absent: the configuration does not say. */
  readonly url?: string | undefined;
  /** The provider whose address it is, where the configuration does not say it. */
  readonly provider?: string;
}

/** Lists what the configuration names of the vault. */
export function vaultReferencesIn({
  providers,
  mcpServers,
  search,
  webFetch,
  notifications: { smtp },
}: ReferringConfig): readonly VaultReference[] {
  const found: VaultReference[] = [
    ...providers.flatMap(({ slug, apiKey, headers, baseUrl: url }) => [
      { path: `providers.${slug}.api_key`, text: apiKey ?? '', url, provider: slug },
      ...entriesOf(`providers.${slug}.headers`, headers, url).map((entry) => ({ ...entry, provider: slug })),
    ]),
    ...mcpServers.flatMap((server) =>
      server.transport === 'http'
        ? entriesOf(`mcp_servers.${server.name}.headers`, server.headers, server.url)
        : entriesOf(`mcp_servers.${server.name}.env`, server.env),
    ),
    ...Object.entries(search.engines).map(([engine, { apiKey, baseUrl: url }]) => ({
      path: `search.${engine}.api_key`,
      text: apiKey ?? '',
      url,
    })),
    ...webFetch.credentials.map(({ host, header, value: text }) => ({
      path: `web_fetch.credentials.${host}.${header}`,
      text,
      url: `https://${host}/`,
    })),
    {
      path: 'notifications.smtp.password',
      text: smtp?.password ?? '',
      url: smtp && `${smtp.plain ? 'smtp' : 'smtps'}://${smtp.host}:${smtp.port}`,
    },
  ];
  return found.filter(({ text }) => namesVault(text));
}

/** Whether a text names this secret. */
export function namesSecret(text: string, name: string): boolean {
  try {
    return parseVaultTemplate(text)?.names.includes(name) === true;
  } catch (error) {
    if (error instanceof VaultReferenceError) return false;
    throw error;
  }
}

function entriesOf(path: string, texts: Readonly<Record<string, string>>, url?: string): readonly VaultReference[] {
  return Object.entries(texts).map(([name, text]) => ({ path: `${path}.${name}`, text, url }));
}
