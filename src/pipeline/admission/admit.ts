import type { Ledger } from '../../accounts/limits/ledger.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { CallerRules } from '../request.ts';
import { readCallerRules, type RulesDeps } from './caller-rules.ts';

export interface AdmitDeps extends Omit<RulesDeps, 'ledger'> {
  readonly ledger: Pick<Ledger, 'admit' | 'isLimited'>;
}

/**
 * Reads the rules of the account, the workspace and the key, and refuses a caller that has nothing left to spend.
 * @throws GatewayError 402 or 403 when a limit is used up, 503 while rules or sums cannot be read
 */
export async function admit(deps: AdmitDeps, principal: Principal): Promise<CallerRules> {
  const rules = await readCallerRules(deps, principal);
  await deps.ledger.admit(principal, rules.limits);
  return rules;
}
