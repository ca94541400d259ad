import type { FillSecrets } from '../../canonical/vault-reference.ts';
import type { Finding } from '../../app/check-provider/finding.ts';
import { providersFromConfig } from '../../app/providers/providers-from-config.ts';
import { findUnresolved } from '../../app/vault/find-unresolved.ts';
import { vaultReferencesIn } from '../../app/vault/references.ts';
import { openVaultArea } from '../../app/vault/vault-area.ts';
import { withVaultSecrets } from '../../app/vault/vault-providers.ts';
import type { Config } from '../../config/config.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Provider } from '../../providers/contract.ts';
import type { Io } from '../command.ts';
import { openConfiguredDatabase } from '../open-database.ts';

const SANDBOX_BASE_URL = 'http://127.0.0.1/v1';

interface VaultOfDoctor {
  readonly fill: FillSecrets;
  /** A finding for each secret that the configuration names. */
  check(): Promise<readonly (readonly [string, Finding])[]>;
  /** Providers as they are called, with their secrets. */
  withSecrets(providers: readonly Provider[]): readonly Provider[];
  close(): Promise<void>;
}

/** The vault of a configuration that names secrets of it; `undefined`: it names none. */
export async function openVaultFor(config: Config, env: Io['env']): Promise<VaultOfDoctor | undefined> {
  if (vaultReferencesIn(config).length === 0) return undefined;
  const database = await openConfiguredDatabase(config, { makes: true });
  const area = openVaultArea({ config, database, clock: systemClock });
  const { timeouts } = config;
  const setup = { config: config.providers, env, timeouts, sandboxBaseUrl: SANDBOX_BASE_URL };
  return {
    fill: area.fill,
    async check() {
      const reports = await findUnresolved(config, providersFromConfig(config, env, SANDBOX_BASE_URL), area.values);
      return reports.map(({ path, problem }) => [
        'vault',
        problem === undefined
          ? { verdict: 'ok', message: `${path} names a secret that may be sent there.` }
          : { verdict: 'failed', message: `${path}: ${problem}` },
      ]);
    },
    withSecrets(providers) {
      const bySlug = new Map(providers.map((provider) => [provider.settings.slug, provider]));
      return [...withVaultSecrets(bySlug, setup, area.fill).values()];
    },
    async close() {
      await area.close();
      await database.close();
    },
  };
}
