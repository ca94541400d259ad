import type { Provider } from '../../providers/contract.ts';
import type { VaultValues } from '../../vault/values.ts';
import { OPERATOR_SCOPE } from '../../vault/vault.ts';
import { vaultReferencesIn, type ReferringConfig } from './references.ts';

/** What the configuration names of the vault. */
export interface ReferenceReport {
  readonly path: string;
  /** Why the secret would not be sent. Absent: it would. */
  readonly problem?: string;
}

/** Looks up each secret that the configuration names, and whether it may go where it is named for. */
export async function findUnresolved(
  config: ReferringConfig,
  providers: ReadonlyMap<string, Provider>,
  values: Pick<VaultValues, 'problemOf'>,
): Promise<readonly ReferenceReport[]> {
  const reports: ReferenceReport[] = [];
  for (const { path, text, url, provider } of vaultReferencesIn(config)) {
    const address = url ?? (provider === undefined ? undefined : providers.get(provider)?.settings.baseUrl);
    const problem = await values.problemOf(OPERATOR_SCOPE, text, address);
    reports.push({ path, ...(problem !== undefined && { problem: problem.message }) });
  }
  return reports;
}
