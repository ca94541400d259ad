import type { Ledger } from '../../accounts/limits/ledger.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { CallerRules } from '../request.ts';
import { readCallerRules, type RulesDeps } from './caller-rules.ts';

export interface AdmitDeps extends Omit<RulesDeps, 'ledger'> {
  readonly ledger: Pick<Ledger, 'admit' | 'isLimited'>;
}

/**
 * Reads the rules of the account, the workspace and the key, and refuses a caller that has nothing left to spend. At once
 * where nothing limits the caller, and the rules were read a moment ago.
 * @throws GatewayError 402 or 403 when a limit is used up, 503 while rules or sums cannot be read; thrown or as a rejection
 */
export function admit(deps: AdmitDeps, principal: Principal): CallerRules | Promise<CallerRules> {
  const rules = readCallerRules(deps, principal);
  return rules instanceof Promise || rules.isLimited ? admitLimited(deps, principal, rules) : rules;
}

async function admitLimited(
  { ledger }: AdmitDeps,
  principal: Principal,
  read: CallerRules | Promise<CallerRules>,
): Promise<CallerRules> {
  const rules = await read;
  await ledger.admit(principal, rules.limits);
  return rules;
}
